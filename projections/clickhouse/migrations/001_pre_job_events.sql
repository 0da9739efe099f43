-- Every event, one row each, as ClickHouse itself reads it from the bytes of the log. A column has the name of the
-- field of the event; fields that an event does not have are at their type's default. Times are stored as the
-- microseconds that the log holds. Lists of records (`destinations`) have no column: ClickHouse refuses a record inside
-- an event that is older or newer than its column, and each destination has rows of its own, DeliveryRequested first.
CREATE TABLE IF NOT EXISTS job_events (
    event_id FixedString(16),
    event_type LowCardinality(String),
    seq Int64 CODEC(Delta, ZSTD(1)),
    partition Int32 CODEC(ZSTD(1)),
    position Int64 CODEC(Delta, ZSTD(1)),
    occurred_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    actor LowCardinality(String),
    cause Int64 CODEC(Delta, ZSTD(1)),
    correlation_id String CODEC(ZSTD(1)),
    traceparent String CODEC(ZSTD(1)),
    prev_hash FixedString(32),
    org_id LowCardinality(String),
    job_id String CODEC(ZSTD(1)),
    attempt Int32 CODEC(T64, ZSTD(1)),
    private String CODEC(ZSTD(3)),

    -- partitions, orgs, workers
    writer_id LowCardinality(String),
    next_command Int64 CODEC(ZSTD(1)),
    name LowCardinality(String),
    plan LowCardinality(String),
    max_in_flight Int32 CODEC(ZSTD(1)),
    worker_id LowCardinality(String),
    boot_id LowCardinality(String),
    kind LowCardinality(String),
    slots Int32 CODEC(ZSTD(1)),
    free_slots Int32 CODEC(ZSTD(1)),
    stopped Bool CODEC(ZSTD(1)),

    -- what was asked for
    vocabulary LowCardinality(String),
    workflow_id LowCardinality(String),
    workflow_version Int64 CODEC(ZSTD(1)),
    workflow_ref LowCardinality(String),
    domain LowCardinality(String),
    priority Int32 CODEC(ZSTD(1)),
    max_run_seconds Int64 CODEC(ZSTD(1)),
    idempotency_digest String CODEC(ZSTD(1)),
    request_digest String CODEC(ZSTD(1)),
    schedule_id LowCardinality(String),

    -- the walk
    dispatch Int32 CODEC(ZSTD(1)),
    step Int32 CODEC(ZSTD(1)),
    node_id LowCardinality(String),
    node_kind LowCardinality(String),
    provider LowCardinality(String),
    try_number Int32 CODEC(ZSTD(1)),
    outcome LowCardinality(String),
    status_code Int32 CODEC(ZSTD(1)),
    error_type LowCardinality(String),
    rule LowCardinality(String),
    edge LowCardinality(String),
    next_node_id LowCardinality(String),
    latency_ms Int64 CODEC(T64, ZSTD(1)),
    started_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    ended_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    body_ref String CODEC(ZSTD(1)),
    content_type LowCardinality(String),
    body_bytes Int64 CODEC(ZSTD(1)),
    due_at DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    reason LowCardinality(String),
    report LowCardinality(String),
    claimed_attempt Int32 CODEC(ZSTD(1)),

    -- the extraction and its end
    result_ref String CODEC(ZSTD(1)),
    result_bytes Int64 CODEC(ZSTD(1)),
    extraction_ref String CODEC(ZSTD(1)),
    schema_id LowCardinality(String),
    data_type LowCardinality(String),
    items Int64 CODEC(ZSTD(1)),
    quality_completeness Float64 CODEC(ZSTD(1)),
    quality_validation Float64 CODEC(ZSTD(1)),
    quality_composite Float64 CODEC(ZSTD(1)),
    opened_by Array(FixedString(16)) CODEC(ZSTD(1)),

    -- deliveries
    destination_id LowCardinality(String),
    generation Int32 CODEC(ZSTD(1)),
    rows Int64 CODEC(ZSTD(1)),
    next_try_at DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    tries Int32 CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(occurred_at)
ORDER BY (org_id, job_id, seq)
SETTINGS non_replicated_deduplication_window = 10000;

-- Reads what job_events would read and keeps nothing: finds the event that cannot be read.
CREATE TABLE IF NOT EXISTS job_events_probe AS job_events ENGINE = Null;
