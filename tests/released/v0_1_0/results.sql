-- name: extraction_result
SELECT id::text AS id, org_id, job_id, domain, schema_id, data_type, normalized, raw_blob_key, quality_completeness,
       quality_validation, quality_composite, latency_ms, delivered_at, created_at
FROM extraction.extraction_results WHERE org_id = %(org_id)s AND job_id = %(job_id)s
ORDER BY generation DESC LIMIT 1
