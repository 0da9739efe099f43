-- title: Quality of providers
-- answers: Which provider gets the pages of which site, how fast, and at what surcharge?
-- units: calls=calls success=share refused=share p50=ms p95=ms credits=credits
-- drawn: table
SELECT
    provider,
    workflow_id,
    domain,
    count() AS calls,
    countIf(c.outcome = 'succeeded') / calls AS success,
    countIf(c.outcome = 'refused') / calls AS refused,
    quantile(0.5)(c.latency_ms) AS p50,
    quantile(0.95)(c.latency_ms) AS p95,
    sum(c.credits) AS credits
FROM provider_calls AS c
WHERE ({org:String} = '' OR org_id = {org:String})
    AND c.occurred_at >= {since:DateTime64(6, 'UTC')} AND c.occurred_at < {until:DateTime64(6, 'UTC')}
GROUP BY provider, workflow_id, domain
ORDER BY calls DESC, provider, workflow_id, domain
LIMIT 200
