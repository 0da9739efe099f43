-- title: Time in each state
-- answers: How long do jobs stay in each state before they leave it?
-- units: stays=stays p50=s p95=s longest=s total=s
-- drawn: bars state: p50 p95
SELECT
    state,
    count() AS stays,
    quantile(0.5)(assumeNotNull(s.seconds)) AS p50,
    quantile(0.95)(assumeNotNull(s.seconds)) AS p95,
    max(assumeNotNull(s.seconds)) AS longest,
    sum(assumeNotNull(s.seconds)) AS total
FROM state_times AS s
WHERE ({org:String} = '' OR org_id = {org:String})
    AND s.left_at >= {since:DateTime64(6, 'UTC')} AND s.left_at < {until:DateTime64(6, 'UTC')}
GROUP BY state
ORDER BY state
