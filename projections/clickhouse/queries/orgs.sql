-- title: Orgs
-- answers: Which orgs have jobs? The dashboards offer these.
-- units:
-- drawn: none
SELECT DISTINCT org_id FROM funnel_hourly WHERE org_id != '' ORDER BY org_id
