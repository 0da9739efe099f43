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

-- name: deliveries_to
SELECT {columns} FROM extraction_deliveries
WHERE org_id = %(org_id)s AND destination_id = ANY (%(destination_ids)s::text[])
ORDER BY requested_at DESC, job_id DESC, destination_id
LIMIT %(limit)s

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

-- name: deleted
SELECT job_id FROM deleted_jobs WHERE org_id = %s AND job_id = ANY (%s::text[])

-- name: indexing_pending
SELECT count(*) FROM jobs
WHERE org_id = %(org_id)s AND status = 'extraction_done'
    AND (%(domain)s = '' OR domain = %(domain)s) AND (%(url)s = '' OR url = %(url)s)

-- name: fires
SELECT {columns} FROM schedule_fires
WHERE org_id = %(org_id)s AND schedule_id = %(schedule_id)s AND seq < %(before)s
ORDER BY seq DESC
LIMIT %(limit)s

-- name: last_runs
SELECT s.schedule_id, f.fired_at FROM unnest(%s::text[]) AS s (schedule_id)
CROSS JOIN LATERAL (
    SELECT fired_at FROM schedule_fires AS f
    WHERE f.org_id = %s AND f.schedule_id = s.schedule_id COLLATE "C" AND f.outcome = 'submitted'
    ORDER BY f.seq DESC LIMIT 1
) AS f

-- name: checkpoints
SELECT partition, position, next_offset, occurred_at, cause FROM checkpoints
