-- The state of each job. Everything here is a maximum, a minimum or the newest: a row that came twice changes nothing.
CREATE TABLE IF NOT EXISTS job_states (
    org_id LowCardinality(String),
    job_id String,
    partition SimpleAggregateFunction(max, Int32),
    seq SimpleAggregateFunction(max, Int64),
    status AggregateFunction(argMax, String, Int64),
    attempt SimpleAggregateFunction(max, Int32),
    workflow_id SimpleAggregateFunction(max, String),
    domain SimpleAggregateFunction(max, String),
    error_type SimpleAggregateFunction(max, String),
    rule SimpleAggregateFunction(max, String),
    submitted_at SimpleAggregateFunction(min, Nullable(DateTime64(6, 'UTC'))),
    claimed_at SimpleAggregateFunction(min, Nullable(DateTime64(6, 'UTC'))),
    extracted_at SimpleAggregateFunction(min, Nullable(DateTime64(6, 'UTC'))),
    finished_at SimpleAggregateFunction(min, Nullable(DateTime64(6, 'UTC')))
)
ENGINE = AggregatingMergeTree
ORDER BY (org_id, job_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS job_states_of_events TO job_states AS
SELECT
    org_id,
    job_id,
    max(e.partition) AS partition,
    max(e.seq) AS seq,
    argMaxState(
        transform(
            toString(event_type),
            ['JobSubmitted', 'JobClaimed', 'RetryScheduled', 'JobReleased', 'JobExtracted', 'JobCompleted', 'JobFailed',
                'JobCancelled'],
            ['pending', 'running', 'waiting_retry', 'pending', 'extraction_done', 'completed', 'failed', 'cancelled'],
            ''),
        -- an event that changes no status counts less than every one that does
        if(event_type IN ('JobSubmitted', 'JobClaimed', 'RetryScheduled', 'JobReleased', 'JobExtracted', 'JobCompleted',
            'JobFailed', 'JobCancelled'), e.seq, toInt64(0))) AS status,
    max(e.attempt) AS attempt,
    max(toString(e.workflow_id)) AS workflow_id,
    max(toString(e.domain)) AS domain,
    max(if(event_type = 'JobFailed', toString(e.error_type), '')) AS error_type,
    max(if(event_type = 'JobFailed', toString(e.rule), '')) AS rule,
    min(if(event_type = 'JobSubmitted', occurred_at, NULL)) AS submitted_at,
    min(if(event_type = 'JobClaimed', occurred_at, NULL)) AS claimed_at,
    min(if(event_type = 'JobExtracted', occurred_at, NULL)) AS extracted_at,
    min(if(event_type IN ('JobCompleted', 'JobFailed', 'JobCancelled'), occurred_at, NULL)) AS finished_at
FROM job_events AS e
WHERE job_id != ''
GROUP BY org_id, job_id;

CREATE VIEW IF NOT EXISTS job_status AS
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
GROUP BY org_id, job_id;
