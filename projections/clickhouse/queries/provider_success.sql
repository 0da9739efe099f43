-- title: Success of providers
-- answers: Does a provider get worse, and since when?
-- units: success=share calls=calls
-- drawn: lines at by provider: success
SELECT
    toStartOfInterval(c.occurred_at, toIntervalSecond({bucket:UInt32})) AS at,
    provider,
    countIf(c.outcome = 'succeeded') / count() AS success,
    count() AS calls
FROM provider_calls AS c
WHERE ({org:String} = '' OR org_id = {org:String})
    AND c.occurred_at >= {since:DateTime64(6, 'UTC')} AND c.occurred_at < {until:DateTime64(6, 'UTC')}
GROUP BY at, provider
ORDER BY at, provider
