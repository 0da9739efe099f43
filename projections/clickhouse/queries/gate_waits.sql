-- title: Time until the gate opens
-- answers: How long does a job wait from its extraction to the last ACK that it needs, over time?
-- units: p50=s p95=s jobs=jobs
-- drawn: lines at: p50 p95
SELECT
    toStartOfInterval(assumeNotNull(g.opened_at), toIntervalSecond({bucket:UInt32})) AS at,
    quantile(0.5)(assumeNotNull(g.seconds)) AS p50,
    quantile(0.95)(assumeNotNull(g.seconds)) AS p95,
    count() AS jobs
FROM gate_ages AS g
WHERE ({org:String} = '' OR org_id = {org:String})
    AND g.opened_at >= {since:DateTime64(6, 'UTC')} AND g.opened_at < {until:DateTime64(6, 'UTC')}
GROUP BY at
ORDER BY at
