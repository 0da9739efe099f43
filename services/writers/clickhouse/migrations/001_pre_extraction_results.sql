-- The extractions, one row per job, destination and generation until ClickHouse has merged them to the newest one:
-- read with FINAL. Belongs to this writer, not to the disposable read model.
CREATE TABLE IF NOT EXISTS extraction_results (
    id UUID,
    org_id LowCardinality(String),
    job_id String CODEC(ZSTD(1)),
    destination_id LowCardinality(String),
    generation UInt32,
    domain LowCardinality(String),
    schema_id LowCardinality(String),
    data_type LowCardinality(String),
    normalized String CODEC(ZSTD(3)),
    replaced_characters UInt32 CODEC(ZSTD(1)),
    raw_blob_key String CODEC(ZSTD(1)),
    quality_completeness Float64 CODEC(ZSTD(1)),
    quality_validation Float64 CODEC(ZSTD(1)),
    quality_composite Float64 CODEC(ZSTD(1)),
    latency_ms Int64 CODEC(ZSTD(1)),
    delivered_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(generation)
ORDER BY (org_id, job_id, destination_id)
SETTINGS non_replicated_deduplication_window = 1000;
