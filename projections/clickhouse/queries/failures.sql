-- title: Why jobs failed
-- answers: What do jobs fail of, in which workflow?
-- units: jobs=jobs last=time
-- drawn: bars error_type: jobs
SELECT
    error_type,
    rule,
    workflow_id,
    count() AS jobs,
    max(s.finished_at) AS last
FROM job_status AS s
WHERE ({org:String} = '' OR org_id = {org:String}) AND s.status = 'failed'
    AND s.finished_at >= {since:DateTime64(6, 'UTC')} AND s.finished_at < {until:DateTime64(6, 'UTC')}
GROUP BY error_type, rule, workflow_id
ORDER BY jobs DESC, error_type, rule, workflow_id
LIMIT 100
