-- title: Closed gates
-- answers: Which destinations do extracted jobs wait for, and for how long have they?
-- units: jobs=jobs oldest=s median=s
-- drawn: bars destination_id: oldest
SELECT
    org_id,
    destination_id,
    count() AS jobs,
    max(dateDiff('microsecond', g.extracted_at, {until:DateTime64(6, 'UTC')}) / 1e6) AS oldest,
    quantile(0.5)(dateDiff('microsecond', g.extracted_at, {until:DateTime64(6, 'UTC')}) / 1e6) AS median
FROM gate_ages AS g
ARRAY JOIN g.pending AS destination_id
WHERE ({org:String} = '' OR org_id = {org:String}) AND g.ended_at IS NULL
    AND g.extracted_at < {until:DateTime64(6, 'UTC')}
GROUP BY org_id, destination_id
ORDER BY oldest DESC, org_id, destination_id
LIMIT 200
