-- title: Latency of providers
-- answers: How long do calls of each provider take, over time?
-- units: p95=ms p50=ms
-- drawn: lines at by provider: p95
SELECT
    toStartOfInterval(c.occurred_at, toIntervalSecond({bucket:UInt32})) AS at,
    provider,
    quantile(0.95)(c.latency_ms) AS p95,
    quantile(0.5)(c.latency_ms) AS p50
FROM provider_calls AS c
WHERE ({org:String} = '' OR org_id = {org:String})
    AND c.occurred_at >= {since:DateTime64(6, 'UTC')} AND c.occurred_at < {until:DateTime64(6, 'UTC')}
GROUP BY at, provider
ORDER BY at, provider
