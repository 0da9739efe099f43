-- Jobs that were deleted: whoever has written to extraction_results looks here afterwards, and takes their rows away.
CREATE TABLE IF NOT EXISTS erased_jobs (
    org_id LowCardinality(String),
    job_id String
)
ENGINE = ReplacingMergeTree
ORDER BY (org_id, job_id);
