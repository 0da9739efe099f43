-- Fields of events that came with the verdicts of the gate.
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS gating Bool CODEC(ZSTD(1)), ADD COLUMN IF NOT EXISTS closed Bool CODEC(ZSTD(1));
ALTER TABLE job_events_probe ADD COLUMN IF NOT EXISTS gating Bool, ADD COLUMN IF NOT EXISTS closed Bool;

-- What opened each gating destination's part of a job's gate: its first ACK or waiver, as the events say.
CREATE VIEW IF NOT EXISTS gate_parts AS
SELECT
    e.org_id AS org_id,
    e.job_id AS job_id,
    e.destination_id AS destination_id,
    minIf(e.seq, e.event_type IN ('DeliveryAcked', 'DeliveryWaived')) AS opened_seq,
    argMinIf(e.event_id, e.seq, e.event_type IN ('DeliveryAcked', 'DeliveryWaived')) AS opened_by,
    opened_seq > 0 AS opened
FROM job_events AS e
WHERE e.event_type IN ('DeliveryRequested', 'DeliveryAcked', 'DeliveryWaived')
GROUP BY org_id, job_id, destination_id
HAVING max(e.gating);

-- Jobs whose recorded end is not what their ACKs and waivers say: always empty.
CREATE VIEW IF NOT EXISTS gate_violations AS
SELECT c.org_id AS org_id, c.job_id AS job_id, arraySort(p.openers) AS opened_by,
    arraySort(c.opened_by) AS recorded_opened_by
FROM job_events AS c
INNER JOIN (
    SELECT org_id, job_id, groupArray(opened_by) AS openers, max(opened_seq) AS last_seq, min(opened) AS all_opened
    FROM gate_parts GROUP BY org_id, job_id
) AS p ON p.org_id = c.org_id AND p.job_id = c.job_id
WHERE c.event_type = 'JobCompleted'
    AND (NOT p.all_opened OR p.last_seq > c.seq OR arraySort(p.openers) != arraySort(c.opened_by));
