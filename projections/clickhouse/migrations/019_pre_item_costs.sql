-- What each job cost, what its items and routed requests cost too, and how it ended.
CREATE OR REPLACE VIEW job_costs AS
SELECT
    org_id,
    job_id,
    workflow_id,
    domain,
    submitted_at,
    state,
    arraySum(arrayMap(each -> each.2, debits)) AS debited,
    arraySum(arrayMap(each -> each.2, surcharges)) AS surcharged,
    arraySum(arrayMap(each -> each.2, refunds)) AS refunded,
    debited + surcharged - refunded AS cost
FROM (
    SELECT
        org_id,
        job_id,
        max(e.workflow_id) AS workflow_id,
        max(e.domain) AS domain,
        min(e.occurred_at) AS submitted_at,
        max(transform(toString(e.event_type), ['JobCompleted', 'JobFailed', 'JobCancelled'],
            ['completed', 'failed', 'cancelled'], '')) AS state,
        groupUniqArrayIf((e.seq, e.credits), e.event_type = 'JobSubmitted') AS debits,
        groupUniqArrayIf((e.seq, e.surcharge), e.surcharge != 0) AS surcharges,
        groupUniqArrayIf((e.seq, e.refund), e.refund != 0) AS refunds
    FROM job_events AS e
    WHERE e.event_type IN ('JobSubmitted', 'NodeFinished', 'ItemsRecorded', 'StatsRecorded', 'JobCompleted', 'JobFailed',
        'JobCancelled')
        AND (org_id, job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs)
    GROUP BY org_id, job_id
);
