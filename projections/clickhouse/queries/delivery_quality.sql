-- title: Deliveries to each destination
-- answers: How long does each destination take to acknowledge, and how often does it fail?
-- units: deliveries=deliveries acked=deliveries failed_tries=tries given_up=deliveries waived=deliveries p50=s p95=s
-- drawn: table
SELECT
    org_id,
    destination_id,
    kind,
    count() AS deliveries,
    countIf(d.acked_at IS NOT NULL) AS acked,
    sum(d.failures) AS failed_tries,
    countIf(d.given_up_at IS NOT NULL) AS given_up,
    countIf(d.waived_at IS NOT NULL) AS waived,
    quantile(0.5)(d.seconds) AS p50,
    quantile(0.95)(d.seconds) AS p95
FROM deliveries AS d
WHERE ({org:String} = '' OR org_id = {org:String})
    AND d.requested_at >= {since:DateTime64(6, 'UTC')} AND d.requested_at < {until:DateTime64(6, 'UTC')}
GROUP BY org_id, destination_id, kind
ORDER BY failed_tries DESC, deliveries DESC, org_id, destination_id
LIMIT 200
