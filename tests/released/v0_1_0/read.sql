-- Queries of the API; every one that sees jobs begins with the org. Table names are resolved by search_path,
-- {columns} are the fields of the struct that a row becomes.

-- name: active_schema
SELECT schema_name FROM jobledger.active_version WHERE read_model = 'postgres'

-- name: job
SELECT {columns} FROM jobs WHERE org_id = %s AND job_id = %s

-- name: transitions
SELECT {columns} FROM job_transitions WHERE org_id = %s AND job_id = %s ORDER BY seq

-- name: trace
SELECT {columns} FROM job_trace WHERE org_id = %s AND job_id = %s ORDER BY seq

-- name: deliveries
SELECT {columns} FROM extraction_deliveries WHERE org_id = %s AND job_id = %s ORDER BY destination_id, generation

-- name: gate
SELECT {columns} FROM gate WHERE org_id = %s AND job_id = %s

-- name: page
SELECT {columns} FROM jobs
WHERE org_id = %(org_id)s AND (submitted_at, job_id) < (%(submitted_at)s, %(job_id)s)
ORDER BY submitted_at DESC, job_id DESC
LIMIT %(limit)s

-- name: page_by_status
SELECT {columns} FROM jobs
WHERE org_id = %(org_id)s AND status = %(status)s AND (submitted_at, job_id) < (%(submitted_at)s, %(job_id)s)
ORDER BY submitted_at DESC, job_id DESC
LIMIT %(limit)s

-- name: statuses
SELECT {columns} FROM jobs WHERE org_id = %s AND job_id = ANY (%s::text[])

-- name: indexing_pending
SELECT count(*) FROM jobs
WHERE org_id = %(org_id)s AND status = 'extraction_done'
    AND (%(domain)s = '' OR domain = %(domain)s) AND (%(url)s = '' OR url = %(url)s)

-- name: checkpoints
SELECT partition, position, next_offset, occurred_at, cause FROM checkpoints
