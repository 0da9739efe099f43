-- title: What a completed job costs
-- answers: What does a completed job cost in each workflow and site, with what was spent on those that failed?
-- units: jobs=jobs completed=jobs credits=credits per_completed=credits
-- drawn: table
SELECT
    workflow_id,
    domain,
    count() AS jobs,
    countIf(j.state = 'completed') AS completed,
    sum(j.cost) AS credits,
    credits / nullIf(completed, 0) AS per_completed
FROM job_costs AS j
WHERE ({org:String} = '' OR org_id = {org:String})
    AND j.submitted_at >= {since:DateTime64(6, 'UTC')} AND j.submitted_at < {until:DateTime64(6, 'UTC')}
GROUP BY workflow_id, domain
ORDER BY credits DESC, jobs DESC, workflow_id, domain
LIMIT 200
