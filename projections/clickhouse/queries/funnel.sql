-- title: Funnel
-- answers: How many jobs came to each stage, by the hour in which they did?
-- units: submitted=jobs dispatched=jobs claimed=jobs retried=jobs extracted=jobs completed=jobs failed=jobs cancelled=jobs
-- drawn: lines at: submitted extracted completed failed cancelled
SELECT
    hour AS at,
    sum(f.submitted) AS submitted,
    sum(f.dispatched) AS dispatched,
    sum(f.claimed) AS claimed,
    sum(f.retried) AS retried,
    sum(f.extracted) AS extracted,
    sum(f.completed) AS completed,
    sum(f.failed) AS failed,
    sum(f.cancelled) AS cancelled
FROM funnel_hourly AS f
WHERE ({org:String} = '' OR org_id = {org:String})
    AND hour >= toStartOfHour({since:DateTime64(6, 'UTC')}) AND hour < {until:DateTime64(6, 'UTC')}
GROUP BY at
ORDER BY at
