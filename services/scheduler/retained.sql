-- What of the read model is past retention. Names without a schema are resolved by search_path.

-- name: past_retention
-- Some jobs of each org behind the last one that was seen of it; where more are cut off, the next look has them.
SELECT j.org_id, j.job_id, j.partition, j.finished_at
FROM (
    SELECT c.org_id, coalesce(nullif(c.retention_seconds, 0), %(retention_seconds)s) AS seconds,
        coalesce(a.finished_at, '-infinity') AS finished_at, coalesce(a.job_id, '') AS job_id
    FROM config.orgs AS c
    LEFT JOIN unnest(%(orgs)s::text[], %(finished)s::timestamptz[], %(jobs)s::text[])
        AS a (org_id, finished_at, job_id) ON a.org_id = c.org_id
) AS o
CROSS JOIN LATERAL (
    SELECT * FROM jobs
    WHERE org_id = o.org_id COLLATE "C" AND {whose} AND finished_at IS NOT NULL AND expired_at IS NULL
        AND (finished_at, job_id) > (o.finished_at, o.job_id COLLATE "C")
        AND finished_at <= clock_timestamp() - make_interval(secs => o.seconds)
        AND partition <> ALL (%(away)s::integer[])
    ORDER BY finished_at, job_id
    LIMIT %(most_of_an_org)s
) AS j
WHERE o.seconds > 0
LIMIT %(most)s

-- name: of_modules
-- As the index on them says it.
vocabulary = 'module'

-- name: of_others
vocabulary <> 'module'
