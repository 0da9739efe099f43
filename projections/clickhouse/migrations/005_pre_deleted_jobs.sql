-- Of a deleted job the rows before its JobDeleted go; what comes later holds nothing of it, and no view shows it.
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS up_to Int64 CODEC(ZSTD(1));
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS erase Bool CODEC(ZSTD(1));
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS last_seq Int64 CODEC(ZSTD(1));
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS state String CODEC(ZSTD(3));
ALTER TABLE job_events_probe ADD COLUMN IF NOT EXISTS up_to Int64 CODEC(ZSTD(1));
ALTER TABLE job_events_probe ADD COLUMN IF NOT EXISTS erase Bool CODEC(ZSTD(1));
ALTER TABLE job_events_probe ADD COLUMN IF NOT EXISTS last_seq Int64 CODEC(ZSTD(1));
ALTER TABLE job_events_probe ADD COLUMN IF NOT EXISTS state String CODEC(ZSTD(3));

CREATE TABLE IF NOT EXISTS deleted_jobs (
    org_id LowCardinality(String),
    job_id String
)
ENGINE = ReplacingMergeTree
ORDER BY (org_id, job_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS deleted_jobs_of_events TO deleted_jobs AS
SELECT org_id, job_id FROM job_events WHERE event_type = 'JobDeleted';

CREATE OR REPLACE VIEW job_status AS
SELECT
    org_id,
    job_id,
    max(s.partition) AS partition,
    max(s.seq) AS seq,
    argMaxMerge(s.status) AS status,
    max(s.attempt) AS attempt,
    max(s.workflow_id) AS workflow_id,
    max(s.domain) AS domain,
    max(s.error_type) AS error_type,
    max(s.rule) AS rule,
    min(s.submitted_at) AS submitted_at,
    min(s.claimed_at) AS claimed_at,
    min(s.extracted_at) AS extracted_at,
    min(s.finished_at) AS finished_at
FROM job_states AS s
WHERE (org_id, job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs)
GROUP BY org_id, job_id;
