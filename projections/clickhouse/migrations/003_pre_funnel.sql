-- How many jobs of an org came to each stage, by the hour in which they did. Counts add up, so that they rest on every
-- event being in job_events once: its inserts and this table's carry the same token.
CREATE TABLE IF NOT EXISTS stage_counts (
    org_id LowCardinality(String),
    hour DateTime('UTC'),
    submitted UInt64,
    dispatched UInt64,
    claimed UInt64,
    retried UInt64,
    extracted UInt64,
    completed UInt64,
    failed UInt64,
    cancelled UInt64
)
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (org_id, hour)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS stage_counts_of_events TO stage_counts AS
SELECT
    org_id,
    toStartOfHour(toDateTime(occurred_at, 'UTC')) AS hour,
    countIf(event_type = 'JobSubmitted') AS submitted,
    countIf(event_type = 'JobDispatched') AS dispatched,
    countIf(event_type = 'JobClaimed') AS claimed,
    countIf(event_type = 'RetryScheduled') AS retried,
    countIf(event_type = 'JobExtracted') AS extracted,
    countIf(event_type = 'JobCompleted') AS completed,
    countIf(event_type = 'JobFailed') AS failed,
    countIf(event_type = 'JobCancelled') AS cancelled
FROM job_events
WHERE job_id != ''
GROUP BY org_id, hour;

CREATE VIEW IF NOT EXISTS funnel_hourly AS
SELECT
    org_id,
    hour,
    sum(c.submitted) AS submitted,
    sum(c.dispatched) AS dispatched,
    sum(c.claimed) AS claimed,
    sum(c.retried) AS retried,
    sum(c.extracted) AS extracted,
    sum(c.completed) AS completed,
    sum(c.failed) AS failed,
    sum(c.cancelled) AS cancelled
FROM stage_counts AS c
GROUP BY org_id, hour;
