-- title: Why deliveries failed
-- answers: Which destinations fail, of what, and when last?
-- units: tries=tries jobs=jobs last=time
-- drawn: table
SELECT
    org_id,
    destination_id,
    error_type,
    uniqExact(e.job_id, e.seq) AS tries,
    uniqExact(e.job_id) AS jobs,
    max(e.occurred_at) AS last
FROM job_events AS e
WHERE ({org:String} = '' OR org_id = {org:String}) AND e.event_type = 'DeliveryFailed'
    AND e.occurred_at >= {since:DateTime64(6, 'UTC')} AND e.occurred_at < {until:DateTime64(6, 'UTC')}
    AND (org_id, e.job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs)
GROUP BY org_id, destination_id, error_type
ORDER BY tries DESC, org_id, destination_id, error_type
LIMIT 200
