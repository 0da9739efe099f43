-- The gate as the deliveries say it is; what JobCompleted says of it is compared, never used.

CREATE VIEW gate AS
SELECT
    j.org_id,
    j.job_id,
    g.expected,
    g.acked,
    g.pending,
    CASE WHEN o.opened THEN g.acks ELSE '{}' END AS opened_by,
    CASE WHEN o.opened THEN greatest(g.last_acked_at, j.extracted_at) END AS opened_at,
    CASE WHEN o.opened THEN g.last_ack_seq END AS opened_seq
FROM jobs AS j
CROSS JOIN LATERAL (
    SELECT
        count(*)::integer AS expected,
        count(a.ack_event_id)::integer AS acked,
        coalesce(array_agg(d.destination_id ORDER BY d.n) FILTER (WHERE a.ack_event_id IS NULL), '{}') AS pending,
        coalesce(array_agg(a.ack_event_id ORDER BY a.ack_seq) FILTER (WHERE a.ack_event_id IS NOT NULL), '{}') AS acks,
        max(a.acked_at) AS last_acked_at,
        max(a.ack_seq) AS last_ack_seq
    FROM (
        SELECT x.n, x.item ->> 'destination_id' AS destination_id
        FROM jsonb_array_elements(j.destinations) WITH ORDINALITY AS x (item, n)
        WHERE (x.item ->> 'gating')::boolean
    ) AS d
    LEFT JOIN LATERAL (  -- the first ACK of a destination opens its part of the gate, whatever comes later
        SELECT e.ack_event_id, e.ack_seq, e.acked_at
        FROM extraction_deliveries AS e
        WHERE e.org_id = j.org_id AND e.job_id = j.job_id AND e.destination_id = d.destination_id
            AND e.status = 'acked'
        ORDER BY e.ack_seq
        LIMIT 1
    ) AS a ON true
) AS g
CROSS JOIN LATERAL (SELECT j.extracted_at IS NOT NULL AND g.acked = g.expected AS opened) AS o;

-- Jobs whose recorded end is not what their ACKs say: always empty.
CREATE VIEW gate_violations AS
SELECT j.org_id, j.job_id, j.partition, f.fault, g.opened_by, j.opened_by AS recorded_opened_by
FROM jobs AS j
JOIN gate AS g ON g.org_id = j.org_id AND g.job_id = j.job_id
JOIN checkpoints AS c ON c.partition = j.partition
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN j.status = 'completed' AND g.opened_at IS NULL THEN 'completed with ACKs missing'
        WHEN j.status = 'completed' AND g.opened_seq > j.finished_seq THEN 'completed before its last ACK'
        WHEN j.status = 'completed' AND NOT (g.opened_by @> j.opened_by AND g.opened_by <@ j.opened_by)
            THEN 'completed naming other ACKs than those that opened it'
        -- the command that brought the last ACK is folded to its end (a later cause is): it had to complete the job
        WHEN j.status = 'extraction_done' AND g.opened_at IS NOT NULL AND c.cause > j.cause
            THEN 'not completed after its last ACK'
    END AS fault
) AS f
WHERE f.fault IS NOT NULL;
