-- title: Retries
-- answers: Which nodes are tried again, why, and do their jobs get through in the end?
-- units: retries=retries jobs=jobs completed=share mean_wait=s late=s
-- drawn: table
-- `late`: from when a try was due until a worker claimed it, on average.
SELECT
    workflow_id,
    node_id,
    error_type,
    count() AS retries,
    uniqExact(org_id, r.job_id) AS jobs,
    uniqExactIf((org_id, r.job_id), r.state = 'completed') / jobs AS completed,
    avg(dateDiff('microsecond', r.scheduled_at, r.due_at) / 1e6) AS mean_wait,
    avg(dateDiff('microsecond', r.due_at, r.claimed_at) / 1e6) AS late
FROM retries AS r
WHERE ({org:String} = '' OR org_id = {org:String})
    AND r.scheduled_at >= {since:DateTime64(6, 'UTC')} AND r.scheduled_at < {until:DateTime64(6, 'UTC')}
GROUP BY workflow_id, node_id, error_type
ORDER BY retries DESC, workflow_id, node_id, error_type
LIMIT 200
