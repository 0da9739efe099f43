-- Views with a row for each thing that happened to a job. They read job_events when they are asked and cost an insert
-- nothing; an event that is there twice counts once; nothing of a deleted job is shown, not even what came in late.
-- Within an org the rows of job_events lie in the order in which its jobs were made, as ids of jobs begin with the time:
-- the smallest and largest time of each granule let a question about one day leave out the others.
ALTER TABLE job_events ADD INDEX IF NOT EXISTS by_time occurred_at TYPE minmax GRANULARITY 1;

-- Each stay of a job in a state. `left_at` NULL and `next_state` '': it is in it.
CREATE OR REPLACE VIEW state_times AS
SELECT
    org_id,
    job_id,
    workflow_id,
    domain,
    stay.1 AS seq,
    stay.2 AS state,
    stay.3 AS entered_at,
    if(following.1 = 0, NULL, following.3) AS left_at,
    following.2 AS next_state,
    dateDiff('microsecond', entered_at, left_at) / 1e6 AS seconds
FROM (
    SELECT
        org_id,
        job_id,
        max(e.workflow_id) AS workflow_id,
        max(e.domain) AS domain,
        arraySort(groupUniqArray((
            e.seq,
            transform(toString(e.event_type),
                ['JobSubmitted', 'JobClaimed', 'RetryScheduled', 'JobReleased', 'JobExtracted', 'JobCompleted',
                    'JobFailed', 'JobCancelled'],
                ['pending', 'running', 'waiting_retry', 'pending', 'extraction_done', 'completed', 'failed',
                    'cancelled'],
                ''),
            e.occurred_at))) AS stays
    FROM job_events AS e
    WHERE e.event_type IN ('JobSubmitted', 'JobClaimed', 'RetryScheduled', 'JobReleased', 'JobExtracted',
            'JobCompleted', 'JobFailed', 'JobCancelled')
        AND (org_id, job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs)
    GROUP BY org_id, job_id
)
ARRAY JOIN
    stays AS stay,
    arrayPushBack(arrayPopFront(stays), (toInt64(0), '', toDateTime64(0, 6, 'UTC'))) AS following;

-- Each wait of a job for a worker, from its submission, or from the loss of its worker, to its claim or its end.
CREATE OR REPLACE VIEW queue_waits AS
SELECT
    org_id,
    job_id,
    workflow_id,
    s.entered_at AS queued_at,
    s.seq > 1 AS again,
    s.left_at AS left_at,
    if(s.next_state = 'running', s.left_at, NULL) AS claimed_at,
    s.next_state AS next_state,
    s.seconds AS seconds
FROM state_times AS s
WHERE s.state = 'pending';

-- How each org fared in the queue, by the hour of the claim; `ratio`: its mean wait to that of all claims of the hour.
CREATE OR REPLACE VIEW org_fairness AS
SELECT
    org_id,
    hour,
    claims,
    waited / claims AS mean_seconds,
    p95_seconds,
    longest_seconds,
    claims / sum(claims) OVER (PARTITION BY hour) AS share,
    mean_seconds / nullIf(sum(waited) OVER (PARTITION BY hour) / sum(claims) OVER (PARTITION BY hour), 0) AS ratio
FROM (
    SELECT
        org_id,
        toStartOfHour(toDateTime(assumeNotNull(w.claimed_at), 'UTC')) AS hour,
        count() AS claims,
        sum(assumeNotNull(w.seconds)) AS waited,
        quantileExactInclusive(0.95)(assumeNotNull(w.seconds)) AS p95_seconds,
        max(assumeNotNull(w.seconds)) AS longest_seconds
    FROM queue_waits AS w
    WHERE w.claimed_at IS NOT NULL
    GROUP BY org_id, hour
);

-- Each visit of a node by a provider. `credits`: the surcharge that was taken for it, by the event before it.
CREATE OR REPLACE VIEW provider_calls AS
SELECT
    org_id,
    job_id,
    workflow_id,
    domain,
    visit.1 AS seq,
    visit.2 AS node_id,
    visit.3 AS provider,
    visit.4 AS try_number,
    visit.5 AS outcome,
    visit.6 AS status_code,
    visit.7 AS error_type,
    visit.8 AS rule,
    visit.9 AS latency_ms,
    visit.10 AS occurred_at,
    credits
FROM (
    SELECT
        org_id,
        job_id,
        max(e.workflow_id) AS workflow_id,
        max(e.domain) AS domain,
        arraySort(groupUniqArrayIf((e.seq, e.node_id, e.provider, e.try_number, e.outcome, e.status_code, e.error_type,
            e.rule, e.latency_ms, e.occurred_at, e.surcharge), e.event_type = 'NodeFinished')) AS visits
    FROM job_events AS e
    WHERE e.event_type IN ('JobSubmitted', 'NodeFinished')
        AND (org_id, job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs)
    GROUP BY org_id, job_id
)
ARRAY JOIN
    visits AS visit,
    arraySlice(arrayPushFront(arrayMap(each -> each.11, visits), toInt64(0)), 1, length(visits)) AS credits
WHERE provider != '';

CREATE OR REPLACE VIEW provider_quality AS
SELECT
    org_id,
    toStartOfHour(toDateTime(c.occurred_at, 'UTC')) AS hour,
    workflow_id,
    domain,
    provider,
    count() AS calls,
    countIf(c.outcome = 'succeeded') AS succeeded,
    countIf(c.outcome = 'refused') AS refused,
    countIf(c.outcome NOT IN ('succeeded', 'refused')) AS failed,
    avg(c.latency_ms) AS mean_ms,
    quantileExactInclusive(0.5)(c.latency_ms) AS p50_ms,
    quantileExactInclusive(0.95)(c.latency_ms) AS p95_ms,
    sum(c.credits) AS credits
FROM provider_calls AS c
GROUP BY org_id, hour, workflow_id, domain, provider;

-- What each job cost, and how it ended.
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
    WHERE e.event_type IN ('JobSubmitted', 'NodeFinished', 'JobCompleted', 'JobFailed', 'JobCancelled')
        AND (org_id, job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs)
    GROUP BY org_id, job_id
);

-- Each wait of a job for another try. `due_at`: after it was brought forward, if it was; `claimed_at` NULL: not (yet).
CREATE OR REPLACE VIEW retries AS
SELECT
    org_id,
    job_id,
    workflow_id,
    domain,
    retry.1 AS seq,
    retry.2 AS node_id,
    retry.3 AS error_type,
    retry.4 AS try_number,
    retry.5 AS scheduled_at,
    forward.1 > 0 AS brought_forward,
    if(brought_forward, forward.2, retry.6) AS due_at,
    if(claim.1 = 0, NULL, claim.2) AS claimed_at,
    state
FROM (
    SELECT
        org_id,
        job_id,
        workflow_id,
        domain,
        state,
        retry,
        arrayFirst(each -> each.1 > retry.1, claims) AS claim,
        arrayLast(each -> each.1 > retry.1 AND (claim.1 = 0 OR each.1 < claim.1), forwards) AS forward
    FROM (
        SELECT
            org_id,
            job_id,
            max(e.workflow_id) AS workflow_id,
            max(e.domain) AS domain,
            max(transform(toString(e.event_type), ['JobCompleted', 'JobFailed', 'JobCancelled'],
                ['completed', 'failed', 'cancelled'], '')) AS state,
            arraySort(groupUniqArrayIf((e.seq, e.node_id, e.error_type, e.try_number, e.occurred_at, e.due_at),
                e.event_type = 'RetryScheduled')) AS waits,
            arraySort(groupUniqArrayIf((e.seq, e.occurred_at), e.event_type = 'JobClaimed')) AS claims,
            arraySort(groupUniqArrayIf((e.seq, e.due_at), e.event_type = 'RetryBroughtForward')) AS forwards
        FROM job_events AS e
        WHERE e.event_type IN ('JobSubmitted', 'JobClaimed', 'RetryScheduled', 'RetryBroughtForward', 'JobCompleted',
                'JobFailed', 'JobCancelled')
            AND (org_id, job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs)
        GROUP BY org_id, job_id
    )
    ARRAY JOIN waits AS retry
);
