-- title: Jobs in each state
-- answers: How many jobs are in each state now, and since when is the one that has been there longest?
-- units: jobs=jobs oldest=time
-- drawn: table
SELECT
    state,
    count() AS jobs,
    min(s.entered_at) AS oldest
FROM state_times AS s
WHERE ({org:String} = '' OR org_id = {org:String}) AND s.left_at IS NULL
GROUP BY state
ORDER BY state
