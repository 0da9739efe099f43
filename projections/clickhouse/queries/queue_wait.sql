-- title: Wait in the queue
-- answers: How long do jobs wait for a worker, over time?
-- units: p50=s p95=s claims=claims
-- drawn: lines at: p50 p95
SELECT
    toStartOfInterval(assumeNotNull(w.claimed_at), toIntervalSecond({bucket:UInt32})) AS at,
    quantile(0.5)(assumeNotNull(w.seconds)) AS p50,
    quantile(0.95)(assumeNotNull(w.seconds)) AS p95,
    count() AS claims
FROM queue_waits AS w
WHERE ({org:String} = '' OR org_id = {org:String})
    AND w.claimed_at >= {since:DateTime64(6, 'UTC')} AND w.claimed_at < {until:DateTime64(6, 'UTC')}
GROUP BY at
ORDER BY at
