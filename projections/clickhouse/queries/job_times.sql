-- title: From submission to end
-- answers: How long does a job take from its submission to its end, over time?
-- units: p50=s p95=s jobs=jobs
-- drawn: lines at: p50 p95
SELECT
    toStartOfInterval(assumeNotNull(s.finished_at), toIntervalSecond({bucket:UInt32})) AS at,
    quantile(0.5)(dateDiff('microsecond', s.submitted_at, s.finished_at) / 1e6) AS p50,
    quantile(0.95)(dateDiff('microsecond', s.submitted_at, s.finished_at) / 1e6) AS p95,
    count() AS jobs
FROM job_status AS s
WHERE ({org:String} = '' OR org_id = {org:String}) AND s.submitted_at IS NOT NULL
    AND s.finished_at >= {since:DateTime64(6, 'UTC')} AND s.finished_at < {until:DateTime64(6, 'UTC')}
GROUP BY at
ORDER BY at
