-- What a module reads of the read model: the results of another job. Names are resolved by search_path.

-- name: active_schema
SELECT schema_name FROM jobledger.active_version WHERE read_model = 'postgres'

-- name: job
SELECT progress, expired_at FROM jobs WHERE org_id = %(org_id)s AND job_id = %(job_id)s AND vocabulary = 'module'

-- name: chunks
SELECT c.items_ref, c.rows_bytes
FROM unnest(%(links)s::text[], %(chunks)s::bigint[]) WITH ORDINALITY AS l (job_id, chunks, n)
JOIN item_chunks AS c ON c.org_id = %(org_id)s AND c.job_id = l.job_id COLLATE "C" AND c.chunk < l.chunks
WHERE c.rows > 0
ORDER BY l.n, c.chunk
