-- Spider jobs of an org; names are resolved by search_path. {columns} are the fields of the struct that a row becomes.

-- name: spider_jobs
SELECT {columns} FROM (
    SELECT j.*, {input} AS options,
        (SELECT coalesce(json_agg(d), '[]')::text FROM (
            SELECT DISTINCT ON (destination_id) {delivery} FROM extraction_deliveries
            WHERE org_id = j.org_id AND job_id = j.job_id AND NOT erase
            ORDER BY destination_id, generation DESC) AS d) AS deliveries,
        {task_out} AS task_out
    FROM ({pages}) AS j
) AS p
ORDER BY submitted_at DESC, job_id DESC
LIMIT %(limit)s

-- name: page_of_spider_jobs
SELECT j.* FROM jobs AS j
WHERE j.org_id = %(org_id)s AND j.vocabulary = 'spider'
    AND (j.submitted_at, j.job_id) < (%(submitted_at)s, %(job_id)s){filters}
ORDER BY j.submitted_at DESC, j.job_id DESC
LIMIT %(limit)s

-- name: one_spider_job
SELECT j.* FROM jobs AS j WHERE j.org_id = %(org_id)s AND j.job_id = %(job_id)s AND j.vocabulary = 'spider'

-- name: task_out
(j.status = 'pending' AND j.dispatches > 0 AND coalesce((  -- the newest that has a say: is the task out, or is it not?
    SELECT t.event_type = 'JobDispatched' FROM job_transitions AS t
    WHERE t.org_id = j.org_id AND t.job_id = j.job_id AND t.event_type IN ('JobDispatched', 'JobClaimed', 'JobReleased')
    ORDER BY t.seq DESC LIMIT 1), false))

-- name: whole_input
j.input

-- name: brief_input
(j.input - ARRAY['settings', 'env', 'spider_args'])

-- name: spiders_of_project
SELECT {columns} FROM (
    SELECT s.spider,
        count(*) FILTER (WHERE NOT r.grouped) AS own_runs,
        count(*) FILTER (WHERE r.grouped) AS grouped_runs,
        coalesce(sum(r.rows) FILTER (WHERE NOT r.grouped), 0)::bigint AS items,
        (array_agg(r.job_id ORDER BY r.submitted_at DESC, r.job_id DESC))[1] AS last_job_id
    FROM (
        SELECT job_id, submitted_at, input -> 'spiders' AS spiders, jsonb_array_length(input -> 'spiders') > 1 AS grouped,
            coalesce((progress ->> 'rows')::bigint, 0) AS rows
        FROM jobs
        WHERE org_id = %(org_id)s AND workflow_id = %(project)s AND vocabulary = 'spider'
            AND jsonb_typeof(input -> 'spiders') = 'array'
    ) AS r
    CROSS JOIN LATERAL jsonb_array_elements_text(r.spiders) AS s (spider)
    GROUP BY s.spider
) AS p
ORDER BY spider COLLATE "C"

-- name: spider_jobs_of
SELECT j.* FROM jobs AS j
WHERE j.org_id = %(org_id)s AND j.job_id = ANY (%(job_ids)s::text[]) AND j.vocabulary = 'spider'

-- name: org_of_spider_job
SELECT org_id FROM jobs WHERE org_id = ANY (%(org_ids)s::text[]) AND job_id = %(job_id)s AND vocabulary = 'spider'
