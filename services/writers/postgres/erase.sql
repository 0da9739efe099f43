-- Leaves an empty row of the last generation there is, over what was stored: what is written later does not pass it.
INSERT INTO extraction.stored_results AS stored (
    id, org_id, job_id, destination_id, generation, domain, schema_id, data_type, normalized, replaced_characters,
    raw_blob_key, quality_completeness, quality_validation, quality_composite, latency_ms, delivered_at, created_at,
    erased_at
)
SELECT id, org_id, job_id, '', 2147483647, '', '', '', '{}', 0, '', 0, 0, 0, 0, clock_timestamp(), clock_timestamp(),
       clock_timestamp()
FROM unnest(%(id)s::uuid[], %(org_id)b::text[], %(job_id)b::text[]) AS new (id, org_id, job_id)
ORDER BY org_id, job_id
ON CONFLICT (org_id, job_id) DO UPDATE SET
    destination_id = excluded.destination_id,
    generation = excluded.generation,
    domain = excluded.domain,
    schema_id = excluded.schema_id,
    data_type = excluded.data_type,
    normalized = excluded.normalized,
    replaced_characters = excluded.replaced_characters,
    raw_blob_key = excluded.raw_blob_key,
    quality_completeness = excluded.quality_completeness,
    quality_validation = excluded.quality_validation,
    quality_composite = excluded.quality_composite,
    latency_ms = excluded.latency_ms,
    delivered_at = excluded.delivered_at,
    erased_at = coalesce(stored.erased_at, excluded.erased_at)
