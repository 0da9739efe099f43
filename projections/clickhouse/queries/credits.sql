-- title: Credits
-- answers: What was granted, spent and given back, by the hour?
-- units: granted=credits debited=credits surcharged=credits refunded=credits held=credits moved=credits
-- drawn: lines at: debited surcharged refunded
SELECT
    hour AS at,
    sum(c.granted) AS granted,
    sum(c.debited) AS debited,
    sum(c.surcharged) AS surcharged,
    sum(c.refunded) AS refunded,
    sum(c.held) AS held,
    sum(c.moved) AS moved
FROM credits_hourly AS c
WHERE ({org:String} = '' OR org_id = {org:String})
    AND hour >= toStartOfHour({since:DateTime64(6, 'UTC')}) AND hour < {until:DateTime64(6, 'UTC')}
GROUP BY at
ORDER BY at
