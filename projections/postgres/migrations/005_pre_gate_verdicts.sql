-- Waivers: a gating destination's part of the gate is open from its first ACK or waiver on, whichever came first.

ALTER TABLE jobs ADD COLUMN destination_id text;  -- without whose ACK the job failed

ALTER TABLE extraction_deliveries
    ADD COLUMN waived_at timestamptz,
    ADD COLUMN waive_event_id uuid,
    ADD COLUMN waive_seq bigint,
    ADD COLUMN waive_reason text,
    DROP CONSTRAINT extraction_deliveries_status_check,
    ADD CONSTRAINT delivery_status_is_known
        CHECK (status IN ('requested', 'waiting', 'acked', 'dead_lettered', 'waived')),
    ADD CONSTRAINT waived_is_whole CHECK (
        num_nonnulls(waived_at, waive_event_id, waive_seq, waive_reason) IN (0, 4)
        AND (status <> 'waived' OR waived_at IS NOT NULL));

CREATE OR REPLACE VIEW gate AS
SELECT
    j.org_id,
    j.job_id,
    g.expected,
    g.acked,
    g.pending,
    CASE WHEN o.opened THEN g.openers ELSE '{}' END AS opened_by,
    CASE WHEN o.opened THEN greatest(g.last_opened_at, j.extracted_at) END AS opened_at,
    CASE WHEN o.opened THEN g.last_seq END AS opened_seq,
    g.waived
FROM jobs AS j
CROSS JOIN LATERAL (
    SELECT
        count(*)::integer AS expected,
        (count(*) FILTER (WHERE a.acked))::integer AS acked,
        coalesce(array_agg(d.destination_id ORDER BY d.n) FILTER (WHERE a.event_id IS NULL), '{}') AS pending,
        coalesce(array_agg(d.destination_id ORDER BY d.n) FILTER (WHERE NOT a.acked), '{}') AS waived,
        coalesce(array_agg(a.event_id ORDER BY a.seq) FILTER (WHERE a.event_id IS NOT NULL), '{}') AS openers,
        max(a.at) AS last_opened_at,
        max(a.seq) AS last_seq
    FROM (
        SELECT x.n, x.item ->> 'destination_id' AS destination_id
        FROM jsonb_array_elements(j.destinations) WITH ORDINALITY AS x (item, n)
        WHERE (x.item ->> 'gating')::boolean
    ) AS d
    LEFT JOIN LATERAL (
        SELECT s.acked, s.event_id, s.seq, s.at
        FROM extraction_deliveries AS e
        CROSS JOIN LATERAL (VALUES
            (true, e.ack_event_id, e.ack_seq, e.acked_at), (false, e.waive_event_id, e.waive_seq, e.waived_at)
        ) AS s (acked, event_id, seq, at)
        WHERE e.org_id = j.org_id AND e.job_id = j.job_id AND e.destination_id = d.destination_id
            AND s.event_id IS NOT NULL
        ORDER BY s.seq
        LIMIT 1
    ) AS a ON true
) AS g
CROSS JOIN LATERAL (
    SELECT j.extracted_at IS NOT NULL AND cardinality(g.openers) = g.expected AS opened
) AS o;
