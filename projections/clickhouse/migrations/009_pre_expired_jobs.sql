-- Fields of events that came with retention, and the jobs whose results have gone.
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS retention_seconds Int64 CODEC(ZSTD(1));
ALTER TABLE job_events_probe ADD COLUMN IF NOT EXISTS retention_seconds Int64;

CREATE TABLE IF NOT EXISTS expired_jobs (
    org_id LowCardinality(String),
    job_id String,
    expired_at DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (org_id, job_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS expired_jobs_of_events TO expired_jobs AS
SELECT org_id, job_id, occurred_at AS expired_at FROM job_events WHERE event_type = 'JobExpired';
