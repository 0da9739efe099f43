-- Of a deleted job an empty row stays, which no late write passes. Readers read the view and never see it.
ALTER TABLE extraction_results RENAME TO stored_results;
ALTER TABLE stored_results ADD COLUMN erased_at timestamptz;

CREATE VIEW extraction_results AS
SELECT id, org_id, job_id, destination_id, generation, domain, schema_id, data_type, normalized, replaced_characters,
       raw_blob_key, quality_completeness, quality_validation, quality_composite, latency_ms, delivered_at, created_at
FROM stored_results WHERE erased_at IS NULL;
