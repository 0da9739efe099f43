-- Queries of the API; every one that sees jobs begins with the org. Table names are resolved by search_path,
-- {columns} are the fields of the struct that a row becomes.

-- name: active_schema
SELECT schema_name FROM jobledger.active_version WHERE read_model = 'postgres'

-- name: job
SELECT {columns} FROM jobs WHERE org_id = %s AND job_id = %s

-- name: detail
SELECT {columns},
    (SELECT coalesce(json_agg(t ORDER BY t.seq), '[]')::text FROM (
        SELECT {transition} FROM job_transitions WHERE org_id = j.org_id AND job_id = j.job_id) AS t),
    (SELECT coalesce(json_agg(v ORDER BY v.seq), '[]')::text FROM (
        SELECT {visit} FROM job_trace WHERE org_id = j.org_id AND job_id = j.job_id) AS v),
    (SELECT coalesce(json_agg(d ORDER BY d.destination_id, d.generation), '[]')::text FROM (
        SELECT {delivery} FROM extraction_deliveries WHERE org_id = j.org_id AND job_id = j.job_id) AS d),
    (SELECT to_json(g)::text FROM (
        SELECT {gate} FROM gate WHERE org_id = j.org_id AND job_id = j.job_id) AS g)
FROM {which}

-- name: detail_of_one
jobs AS j WHERE j.org_id = %(org_id)s AND j.job_id = %(job_id)s

-- name: detail_of_many
unnest(%(orgs)s::text[], %(jobs)s::text[]) AS w (org, job) JOIN jobs AS j ON j.org_id = w.org AND j.job_id = w.job

-- name: transitions_after
SELECT {columns} FROM job_transitions WHERE org_id = %s AND job_id = %s AND seq > %s ORDER BY seq

-- name: trace_after
SELECT {columns} FROM job_trace WHERE org_id = %s AND job_id = %s AND seq > %s ORDER BY seq

-- name: deliveries_to
SELECT p.* FROM unnest(%(destination_ids)s::text[]) AS d (wanted)
CROSS JOIN LATERAL (  -- of each its newest: of several at once all would be read and sorted
    SELECT {columns} FROM extraction_deliveries
    WHERE org_id = %(org_id)s AND destination_id = d.wanted COLLATE "C"
    ORDER BY requested_at DESC, job_id DESC
    LIMIT %(limit)s
) AS p
ORDER BY p.requested_at DESC, p.job_id DESC, p.destination_id
LIMIT %(limit)s

-- name: replayable
SELECT {columns} FROM extraction_deliveries AS d
WHERE org_id = %(org_id)s AND destination_id = ANY (%(destination_ids)s::text[])
    AND requested_at >= %(since)s AND requested_at < %(until)s AND status = ANY (%(statuses)s::text[])
    AND (%(job_id)s::text IS NULL OR job_id = %(job_id)s)
    AND (job_id, destination_id) > (%(after_job)s, %(after_destination)s)
    AND NOT EXISTS (
        SELECT FROM extraction_deliveries AS n
        WHERE n.org_id = d.org_id AND n.job_id = d.job_id AND n.destination_id = d.destination_id
            AND n.generation > d.generation)
ORDER BY job_id, destination_id
LIMIT %(limit)s

-- name: page
SELECT {columns} FROM jobs
WHERE org_id = %(org_id)s AND (submitted_at, job_id) {behind} (%(submitted_at)s, %(job_id)s){filters}
ORDER BY submitted_at {order}, job_id {order}
LIMIT %(limit)s

-- name: page_by_status
SELECT p.* FROM ({pages}) AS p
ORDER BY p.submitted_at {order}, p.job_id {order}
LIMIT %(limit)s

-- name: statuses
SELECT {columns} FROM jobs WHERE org_id = %s AND job_id = ANY (%s::text[])

-- name: deleted
SELECT job_id FROM deleted_jobs WHERE org_id = %s AND job_id = ANY (%s::text[])

-- name: indexing_pending
SELECT count(*) FROM jobs
WHERE org_id = %(org_id)s AND status = 'extraction_done'
    AND (%(domain)s = '' OR domain = %(domain)s) AND (%(url)s = '' OR url = %(url)s)

-- name: usage
SELECT {columns} FROM org_usage WHERE org_id = %s

-- name: transactions
SELECT {columns} FROM credit_transactions
WHERE org_id = %(org_id)s AND position < %(before)s
ORDER BY position DESC
LIMIT %(limit)s

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

-- name: extraction
SELECT {columns} FROM extraction.extraction_results AS r
WHERE r.org_id = %(org_id)s AND r.job_id = %(job_id)s
    AND NOT EXISTS (  -- of a deleted job the row is taken away a moment later, and so it is past retention
        SELECT FROM deleted_jobs AS d WHERE d.org_id = %(org_id)s AND d.job_id = r.job_id COLLATE "C")
    AND NOT EXISTS (
        SELECT FROM jobs AS j
        WHERE j.org_id = %(org_id)s AND j.job_id = r.job_id COLLATE "C" AND j.expired_at IS NOT NULL)

-- name: expired_at
SELECT coalesce(j.expired_at, (  -- the row may be gone a moment before the job is said to have expired
    SELECT s.erased_at FROM extraction.stored_results AS s WHERE s.org_id = %(org_id)s AND s.job_id = %(job_id)s))
FROM jobs AS j WHERE j.org_id = %(org_id)s AND j.job_id = %(job_id)s

-- name: past_retention
SELECT EXISTS (
    SELECT FROM jobs
    WHERE org_id = %(org_id)s AND expired_at IS NOT NULL AND extracted_at IS NOT NULL{filters})

-- name: past_of_domain
AND domain = %(domain)s

-- name: past_of_url
AND hashtextextended(url, 0) = hashtextextended(%(url)s, 0) AND url = %(url)s

-- name: extractions
SELECT {columns} FROM extraction.extraction_results AS r
WHERE r.org_id = %(org_id)s{filters}
    AND NOT EXISTS (
        SELECT FROM deleted_jobs AS d WHERE d.org_id = %(org_id)s AND d.job_id = r.job_id COLLATE "C")
ORDER BY r.created_at DESC, r.job_id DESC
LIMIT %(limit)s OFFSET %(offset)s

-- name: expired_of
SELECT job_id FROM jobs WHERE org_id = %(org_id)s AND job_id = ANY (%(job_ids)s::text[]) AND expired_at IS NOT NULL

-- name: of_domain
AND r.domain = %(domain)s

-- name: of_url
AND r.job_id = ANY (ARRAY(
    SELECT j.job_id COLLATE "default" FROM jobs AS j
    WHERE j.org_id = %(org_id)s AND hashtextextended(j.url, 0) = hashtextextended(%(url)s, 0) AND j.url = %(url)s
        AND j.extracted_at IS NOT NULL))

-- name: position
SELECT coalesce((SELECT position FROM checkpoints WHERE partition = %s), 0)

-- name: checkpoints
SELECT partition, position, next_offset, occurred_at, cause FROM checkpoints
