-- title: Latency of deliveries
-- answers: How long do deliveries of each kind take from request to ACK, over time?
-- units: p95=s p50=s
-- drawn: lines at by kind: p95
SELECT
    toStartOfInterval(assumeNotNull(d.acked_at), toIntervalSecond({bucket:UInt32})) AS at,
    kind,
    quantile(0.95)(assumeNotNull(d.seconds)) AS p95,
    quantile(0.5)(assumeNotNull(d.seconds)) AS p50
FROM deliveries AS d
WHERE ({org:String} = '' OR org_id = {org:String})
    AND d.acked_at >= {since:DateTime64(6, 'UTC')} AND d.acked_at < {until:DateTime64(6, 'UTC')}
GROUP BY at, kind
ORDER BY at, kind
