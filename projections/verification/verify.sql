-- What verification reads, in one snapshot. {table} is the table at hand; names are resolved by search_path.

-- name: checkpoints
SELECT * FROM checkpoints ORDER BY partition

-- name: of_partition
SELECT * FROM {table} WHERE partition = %s

-- name: of_no_partition
SELECT * FROM {table} WHERE NOT partition = ANY (%s::integer[])

-- name: gate_violations
SELECT org_id, job_id, fault, opened_by, recorded_opened_by FROM gate_violations

-- name: has_results
SELECT to_regclass('extraction.extraction_results') IS NOT NULL

-- name: results
SELECT r.* FROM extraction.extraction_results AS r JOIN unnest(%s::text[], %s::text[]) AS j (org_id, job_id)
    USING (org_id, job_id)

-- name: result_keys
SELECT org_id, job_id, destination_id, generation FROM extraction.extraction_results
