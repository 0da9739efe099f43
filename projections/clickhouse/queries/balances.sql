-- title: Balances
-- answers: What has each metered org left, and how long does that last at the pace of this time?
-- units: balance=credits held=credits spent=credits days_left=days
-- drawn: table
-- `spent`: debits and surcharges less refunds between `since` and `until`; `days_left` NULL: nothing was spent.
SELECT
    org_id,
    sum(m.credits) AS balance,
    -sumIf(m.credits, m.kind IN ('hold', 'release')) AS held,
    -sumIf(m.credits, m.kind IN ('debit', 'surcharge', 'refund')
        AND m.occurred_at >= {since:DateTime64(6, 'UTC')} AND m.occurred_at < {until:DateTime64(6, 'UTC')}) AS spent,
    if(spent > 0,
        balance / spent * dateDiff('microsecond', {since:DateTime64(6, 'UTC')}, {until:DateTime64(6, 'UTC')}) / 86400e6,
        NULL)
        AS days_left
FROM credit_moves AS m FINAL
WHERE ({org:String} = '' OR org_id = {org:String})
GROUP BY org_id
ORDER BY days_left ASC NULLS LAST, org_id
LIMIT 200
