-- Each delivery of a job to a destination: a redelivery is a generation of its own. Its first ACK counts, as it does for
-- the gate. What takes a deleted or expired job away is no delivery.
CREATE OR REPLACE VIEW deliveries AS
SELECT
    org_id,
    job_id,
    destination_id,
    generation,
    max(e.kind) AS kind,
    max(e.gating) AS gating,
    min(if(e.event_type = 'DeliveryRequested', e.occurred_at, NULL)) AS requested_at,
    maxIf(e.try_number, e.event_type = 'DeliveryRequested') AS tries,
    uniqExactIf(e.seq, e.event_type = 'DeliveryFailed') AS failures,
    argMaxIf(e.error_type, e.seq, e.event_type IN ('DeliveryFailed', 'DeliveryDeadLettered')) AS last_error,
    min(if(e.event_type = 'DeliveryAcked', e.occurred_at, NULL)) AS acked_at,
    argMinIf(e.rows, e.seq, e.event_type = 'DeliveryAcked') AS acked_rows,
    min(if(e.event_type = 'DeliveryWaived', e.occurred_at, NULL)) AS waived_at,
    min(if(e.event_type = 'DeliveryDeadLettered', e.occurred_at, NULL)) AS given_up_at,
    dateDiff('microsecond', requested_at, acked_at) / 1e6 AS seconds
FROM job_events AS e
WHERE e.event_type IN ('DeliveryRequested', 'DeliveryAcked', 'DeliveryFailed', 'DeliveryDeadLettered', 'DeliveryWaived')
    AND (org_id, job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs)
GROUP BY org_id, job_id, destination_id, generation
HAVING NOT max(e.erase) AND requested_at IS NOT NULL;

CREATE OR REPLACE VIEW delivery_quality AS
SELECT
    org_id,
    toStartOfHour(toDateTime(assumeNotNull(d.requested_at), 'UTC')) AS hour,
    destination_id,
    kind,
    count() AS deliveries,
    countIf(d.acked_at IS NOT NULL) AS acked,
    sum(d.failures) AS failed_tries,
    countIf(d.given_up_at IS NOT NULL) AS given_up,
    countIf(d.waived_at IS NOT NULL) AS waived,
    avg(d.seconds) AS mean_seconds,
    quantileExactInclusive(0.5)(d.seconds) AS p50_seconds,
    quantileExactInclusive(0.95)(d.seconds) AS p95_seconds
FROM deliveries AS d
GROUP BY org_id, hour, destination_id, kind;

-- How long the gate of each extracted job was or has been closed. `opened_at` NULL: it was not opened; then `pending` says
-- by whom, and `ended_at` whether the job waits for it no more.
CREATE OR REPLACE VIEW gate_ages AS
SELECT
    org_id,
    job_id,
    max(p.extracted_at) AS extracted_at,
    countIf(p.gating) AS expected,
    countIf(p.gating AND p.opened_at IS NOT NULL) AS opened,
    arraySort(groupArrayIf(p.destination_id, p.gating AND p.opened_at IS NULL)) AS pending,
    if(expected = opened, maxIf(p.opened_at, p.gating), NULL) AS opened_at,
    max(p.ended_at) AS ended_at,
    dateDiff('microsecond', extracted_at, opened_at) / 1e6 AS seconds
FROM (
    SELECT
        org_id,
        job_id,
        if(startsWith(toString(e.event_type), 'Delivery'), toString(e.destination_id), '') AS destination_id,
        max(e.gating) AS gating,
        min(if(e.event_type IN ('DeliveryAcked', 'DeliveryWaived'), e.occurred_at, NULL)) AS opened_at,
        min(if(e.event_type = 'JobExtracted', e.occurred_at, NULL)) AS extracted_at,
        min(if(e.event_type IN ('JobCompleted', 'JobFailed', 'JobCancelled'), e.occurred_at, NULL)) AS ended_at
    FROM job_events AS e
    WHERE e.event_type IN ('JobExtracted', 'JobCompleted', 'JobFailed', 'JobCancelled', 'DeliveryRequested',
            'DeliveryAcked', 'DeliveryWaived')
        AND (org_id, job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs)
    GROUP BY org_id, job_id, destination_id
) AS p
GROUP BY org_id, job_id
HAVING expected > 0 AND extracted_at IS NOT NULL;
