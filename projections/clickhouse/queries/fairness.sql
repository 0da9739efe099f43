-- title: Fairness of the queue
-- answers: Does an org wait longer than others, and does it get its share of the workers?
-- units: claims=claims share=share mean=s p95=s ratio=times waiting=jobs
-- drawn: bars org_id: mean p95
-- `ratio`: mean wait of the org to that of all claims; `waiting`: jobs that are in its queue at `until`.
SELECT *
FROM (
    SELECT
        org_id,
        countIf(w.claimed) AS claims,
        claims / sum(claims) OVER () AS share,
        avgIf(w.seconds, w.claimed) AS mean,
        quantileIf(0.95)(w.seconds, w.claimed) AS p95,
        mean / nullIf(sum(sumIf(w.seconds, w.claimed)) OVER () / sum(claims) OVER (), 0) AS ratio,
        countIf(w.queued_at < {until:DateTime64(6, 'UTC')} AND ifNull(w.left_at >= {until:DateTime64(6, 'UTC')}, 1))
            AS waiting
    FROM (
        SELECT org_id, queued_at, left_at, assumeNotNull(seconds) AS seconds,
            ifNull(claimed_at >= {since:DateTime64(6, 'UTC')} AND claimed_at < {until:DateTime64(6, 'UTC')}, 0) AS claimed
        FROM queue_waits
    ) AS w
    GROUP BY org_id
)
WHERE ({org:String} = '' OR org_id = {org:String}) AND claims + waiting > 0
ORDER BY ratio DESC, org_id
