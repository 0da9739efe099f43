-- Statements of the projection; table names are resolved by search_path, which names the read model's version.

-- name: lock
SELECT pg_try_advisory_lock(hashtextextended('jobledger projection ' || current_schema(), 0))

-- name: begin_partitions
INSERT INTO checkpoints (partition, position, next_offset, occurred_at, cause)
SELECT p, 0, 0, timestamptz 'epoch', -1 FROM unnest(%s::integer[]) AS p
ON CONFLICT DO NOTHING

-- name: load_checkpoints
SELECT partition, position, next_offset, occurred_at, cause FROM checkpoints

-- name: load_jobs
SELECT j.org_id, j.job_id, j.status, j.seq, j.position, j.cause, j.attempt, j.dispatches, j.worker_id, j.retry_at,
    j.claimed_at, j.extracted_at, j.finished_at, j.finished_seq, j.result_ref, j.content_type, j.result_bytes,
    j.extraction_ref, j.schema_id, j.data_type, j.items, j.quality_completeness, j.quality_validation,
    j.quality_composite, j.latency_ms, j.error_type, j.rule, j.node_id, j.error_message, j.opened_by
FROM unnest(%s::text[], %s::text[]) AS k (org_id, job_id)
JOIN jobs AS j ON j.org_id = k.org_id COLLATE "C" AND j.job_id = k.job_id COLLATE "C"

-- name: load_deliveries
SELECT d.org_id, d.job_id, d.destination_id, d.generation, d.partition, d.kind, d.status, d.tries, d.requested_at,
    d.seq, d.position, d.acked_at, d.ack_event_id, d.ack_seq, d.rows, d.writer_id, d.error_type, d.error_message,
    d.next_try_at
FROM unnest(%s::text[], %s::text[]) AS k (org_id, job_id)
JOIN extraction_deliveries AS d ON d.org_id = k.org_id COLLATE "C" AND d.job_id = k.job_id COLLATE "C"

-- name: make_staging
CREATE TEMPORARY TABLE incoming_jobs ON COMMIT DELETE ROWS AS
    SELECT org_id, job_id, status, seq, position, cause, attempt, dispatches, worker_id, retry_at,
        claimed_at, extracted_at, finished_at, finished_seq, result_ref, content_type, result_bytes,
        extraction_ref, schema_id, data_type, items, quality_completeness, quality_validation,
        quality_composite, latency_ms, error_type, rule, node_id, error_message, opened_by
    FROM jobs WITH NO DATA;
CREATE TEMPORARY TABLE incoming_deliveries ON COMMIT DELETE ROWS AS
    SELECT * FROM extraction_deliveries WITH NO DATA

-- name: update_jobs
UPDATE jobs AS j SET
    status = n.status, seq = n.seq, position = n.position, cause = n.cause, attempt = n.attempt,
    dispatches = n.dispatches, worker_id = n.worker_id, retry_at = n.retry_at, claimed_at = n.claimed_at,
    extracted_at = n.extracted_at, finished_at = n.finished_at, finished_seq = n.finished_seq,
    result_ref = n.result_ref, content_type = n.content_type, result_bytes = n.result_bytes,
    extraction_ref = n.extraction_ref, schema_id = n.schema_id, data_type = n.data_type, items = n.items,
    quality_completeness = n.quality_completeness, quality_validation = n.quality_validation,
    quality_composite = n.quality_composite, latency_ms = n.latency_ms, error_type = n.error_type,
    rule = n.rule, node_id = n.node_id, error_message = n.error_message, opened_by = n.opened_by
FROM incoming_jobs AS n
WHERE j.org_id = n.org_id AND j.job_id = n.job_id AND j.seq < n.seq

-- name: upsert_deliveries
INSERT INTO extraction_deliveries AS d (
    org_id, job_id, destination_id, generation, partition, kind, status, tries, requested_at, seq, position,
    acked_at, ack_event_id, ack_seq, rows, writer_id, error_type, error_message, next_try_at)
SELECT org_id, job_id, destination_id, generation, partition, kind, status, tries, requested_at, seq, position,
    acked_at, ack_event_id, ack_seq, rows, writer_id, error_type, error_message, next_try_at
FROM incoming_deliveries
ON CONFLICT (org_id, job_id, destination_id, generation) DO UPDATE SET
    kind = EXCLUDED.kind, status = EXCLUDED.status, tries = EXCLUDED.tries, seq = EXCLUDED.seq,
    position = EXCLUDED.position, acked_at = EXCLUDED.acked_at, ack_event_id = EXCLUDED.ack_event_id,
    ack_seq = EXCLUDED.ack_seq, rows = EXCLUDED.rows, writer_id = EXCLUDED.writer_id,
    error_type = EXCLUDED.error_type, error_message = EXCLUDED.error_message, next_try_at = EXCLUDED.next_try_at
WHERE d.seq < EXCLUDED.seq

-- name: move_checkpoints
UPDATE checkpoints AS c SET
    position = n.position, next_offset = n.next_offset, occurred_at = n.occurred_at, cause = n.cause
FROM unnest(%s::integer[], %s::bigint[], %s::bigint[], %s::bigint[], %s::timestamptz[], %s::bigint[])
    AS n (partition, old_position, position, next_offset, occurred_at, cause)
WHERE c.partition = n.partition AND c.position = n.old_position

-- name: tell_readers
SELECT pg_notify(current_schema() || '_positions', %s)
