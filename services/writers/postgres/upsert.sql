-- Keeps the newest generation of each row. In the order of the key, so that two writers cannot block each other.
-- Arrays of texts are sent as they are, in binary: to quote them costs the driver hundreds of times as much.
INSERT INTO extraction.stored_results AS stored (
    id, org_id, job_id, destination_id, generation, domain, schema_id, data_type, normalized, replaced_characters,
    raw_blob_key, quality_completeness, quality_validation, quality_composite, latency_ms, delivered_at, created_at
)
SELECT id, org_id, job_id, destination_id, generation, domain, schema_id, data_type, normalized::jsonb,
       replaced_characters, raw_blob_key, quality_completeness, quality_validation, quality_composite, latency_ms,
       clock_timestamp(), clock_timestamp()
FROM unnest(
    %(id)s::uuid[], %(org_id)b::text[], %(job_id)b::text[], %(destination_id)b::text[], %(generation)s::integer[],
    %(domain)b::text[], %(schema_id)b::text[], %(data_type)b::text[], %(normalized)b::text[],
    %(replaced_characters)s::integer[], %(raw_blob_key)b::text[], %(quality_completeness)s::double precision[],
    %(quality_validation)s::double precision[], %(quality_composite)s::double precision[], %(latency_ms)s::bigint[]
) AS new (
    id, org_id, job_id, destination_id, generation, domain, schema_id, data_type, normalized, replaced_characters,
    raw_blob_key, quality_completeness, quality_validation, quality_composite, latency_ms
)
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
    delivered_at = excluded.delivered_at
WHERE stored.generation <= excluded.generation
