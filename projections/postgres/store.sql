-- Statements of the projection; table names are resolved by search_path, which names the read model's version.

-- name: lock
SELECT pg_try_advisory_lock(hashtextextended('jobledger projection ' || current_schema(), 0))

-- name: is_active
SELECT EXISTS (
    SELECT FROM jobledger.active_version WHERE read_model = 'postgres' AND schema_name = current_schema())

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
    j.quality_composite, j.latency_ms, j.error_type, j.rule, j.node_id, j.error_message, j.opened_by,
    j.destination_id, j.boot_id, j.ended_for, j.expired_at, j.progress, j.chain_id
FROM unnest(%s::text[], %s::text[]) AS k (org_id, job_id)
JOIN jobs AS j ON j.org_id = k.org_id COLLATE "C" AND j.job_id = k.job_id COLLATE "C"

-- name: load_deliveries
SELECT d.org_id, d.job_id, d.destination_id, d.generation, d.partition, d.kind, d.status, d.tries, d.requested_at,
    d.seq, d.position, d.acked_at, d.ack_event_id, d.ack_seq, d.rows, d.writer_id, d.error_type, d.error_message,
    d.next_try_at, d.waived_at, d.waive_event_id, d.waive_seq, d.waive_reason, d.place, d.erase
FROM unnest(%s::text[], %s::text[]) AS k (org_id, job_id)
JOIN extraction_deliveries AS d ON d.org_id = k.org_id COLLATE "C" AND d.job_id = k.job_id COLLATE "C"

-- name: load_deleted
SELECT d.org_id, d.job_id, d.partition, d.status, d.seq, d.position, d.attempt, d.boot_id, d.erasures, d.deleted_at
FROM unnest(%s::text[], %s::text[]) AS k (org_id, job_id)
JOIN deleted_jobs AS d ON d.org_id = k.org_id COLLATE "C" AND d.job_id = k.job_id COLLATE "C"

-- name: load_usage
SELECT org_id, partition, position, plan, metered, balance, granted, debited, surcharged, refunded, held, jobs
FROM org_usage WHERE org_id = ANY (%s::text[])

-- name: upsert_usage
INSERT INTO org_usage AS u (
    org_id, partition, position, plan, metered, balance, granted, debited, surcharged, refunded, held, jobs)
SELECT * FROM unnest(%(org_id)s::text[], %(partition)s::integer[], %(position)s::bigint[], %(plan)s::text[],
    %(metered)s::boolean[], %(balance)s::bigint[], %(granted)s::bigint[], %(debited)s::bigint[],
    %(surcharged)s::bigint[], %(refunded)s::bigint[], %(held)s::bigint[], %(jobs)s::bigint[])
ON CONFLICT (org_id) DO UPDATE SET
    position = EXCLUDED.position, plan = EXCLUDED.plan, metered = EXCLUDED.metered, balance = EXCLUDED.balance,
    granted = EXCLUDED.granted, debited = EXCLUDED.debited, surcharged = EXCLUDED.surcharged,
    refunded = EXCLUDED.refunded, held = EXCLUDED.held, jobs = EXCLUDED.jobs
WHERE u.position < EXCLUDED.position

-- name: erase_jobs
WITH k AS (SELECT * FROM unnest(%s::text[], %s::text[]) AS k (org_id, job_id)),
    t AS (DELETE FROM job_transitions AS t USING k
        WHERE t.org_id = k.org_id COLLATE "C" AND t.job_id = k.job_id COLLATE "C"),
    v AS (DELETE FROM job_trace AS v USING k
        WHERE v.org_id = k.org_id COLLATE "C" AND v.job_id = k.job_id COLLATE "C"),
    l AS (DELETE FROM job_logs AS l USING k
        WHERE l.org_id = k.org_id COLLATE "C" AND l.job_id = k.job_id COLLATE "C"),
    s AS (DELETE FROM job_stats AS s USING k
        WHERE s.org_id = k.org_id COLLATE "C" AND s.job_id = k.job_id COLLATE "C"),
    d AS (DELETE FROM extraction_deliveries AS d USING k
        WHERE d.org_id = k.org_id COLLATE "C" AND d.job_id = k.job_id COLLATE "C")
DELETE FROM jobs AS j USING k WHERE j.org_id = k.org_id COLLATE "C" AND j.job_id = k.job_id COLLATE "C"

-- name: upsert_deleted
INSERT INTO deleted_jobs AS d (
    org_id, job_id, partition, status, seq, position, attempt, boot_id, erasures, deleted_at)
SELECT * FROM unnest(%(org_id)s::text[], %(job_id)s::text[], %(partition)s::integer[], %(status)s::text[],
    %(seq)s::bigint[], %(position)s::bigint[], %(attempt)s::bigint[], %(boot_id)s::text[], %(erasures)s::bigint[],
    %(deleted_at)s::timestamptz[])
ON CONFLICT (org_id, job_id) DO UPDATE SET
    seq = EXCLUDED.seq, position = EXCLUDED.position, erasures = EXCLUDED.erasures
WHERE d.seq < EXCLUDED.seq

-- name: make_staging
CREATE TEMPORARY TABLE incoming_jobs ON COMMIT DELETE ROWS AS
    SELECT org_id, job_id, status, seq, position, cause, attempt, dispatches, worker_id, retry_at,
        claimed_at, extracted_at, finished_at, finished_seq, result_ref, content_type, result_bytes,
        extraction_ref, schema_id, data_type, items, quality_completeness, quality_validation,
        quality_composite, latency_ms, error_type, rule, node_id, error_message, opened_by,
        destination_id, boot_id, ended_for, expired_at, progress, chain_id
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
    rule = n.rule, node_id = n.node_id, error_message = n.error_message, opened_by = n.opened_by,
    destination_id = n.destination_id, boot_id = n.boot_id, ended_for = n.ended_for,
    expired_at = n.expired_at, progress = n.progress, chain_id = n.chain_id
FROM incoming_jobs AS n
WHERE j.org_id = n.org_id AND j.job_id = n.job_id AND j.seq < n.seq

-- name: leave_chains
-- Of these chains, the chunks of those whose every job is deleted or has expired: nobody refers to them any more.
DELETE FROM item_chunks AS c
USING unnest(%s::text[], %s::text[]) AS k (org_id, chain_id)
WHERE c.org_id = k.org_id COLLATE "C" AND c.chain_id = k.chain_id COLLATE "C"
    AND NOT EXISTS (
        SELECT FROM jobs AS j
        WHERE j.org_id = c.org_id AND j.chain_id = c.chain_id AND j.expired_at IS NULL)

-- name: leave_stats
DELETE FROM job_stats AS s
USING unnest(%s::text[], %s::text[]) AS k (org_id, job_id)
WHERE s.org_id = k.org_id COLLATE "C" AND s.job_id = k.job_id COLLATE "C"

-- name: expire_spiders
-- Of these jobs, what spiders said and counted: it goes with their items. What others said stays with their record.
WITH k AS (
        SELECT j.org_id, j.job_id
        FROM unnest(%s::text[], %s::text[]) AS k (org_id, job_id)
        JOIN jobs AS j ON j.org_id = k.org_id COLLATE "C" AND j.job_id = k.job_id COLLATE "C"
        WHERE j.vocabulary = 'spider'),
    l AS (DELETE FROM job_logs AS l USING k WHERE l.org_id = k.org_id AND l.job_id = k.job_id)
DELETE FROM job_stats AS s USING k WHERE s.org_id = k.org_id AND s.job_id = k.job_id

-- name: upsert_deliveries
INSERT INTO extraction_deliveries AS d (
    org_id, job_id, destination_id, generation, partition, kind, status, tries, requested_at, seq, position,
    acked_at, ack_event_id, ack_seq, rows, writer_id, error_type, error_message, next_try_at,
    waived_at, waive_event_id, waive_seq, waive_reason, place, erase)
SELECT org_id, job_id, destination_id, generation, partition, kind, status, tries, requested_at, seq, position,
    acked_at, ack_event_id, ack_seq, rows, writer_id, error_type, error_message, next_try_at,
    waived_at, waive_event_id, waive_seq, waive_reason, place, erase
FROM incoming_deliveries
ON CONFLICT (org_id, job_id, destination_id, generation) DO UPDATE SET
    kind = EXCLUDED.kind, status = EXCLUDED.status, tries = EXCLUDED.tries, seq = EXCLUDED.seq,
    position = EXCLUDED.position, acked_at = EXCLUDED.acked_at, ack_event_id = EXCLUDED.ack_event_id,
    ack_seq = EXCLUDED.ack_seq, rows = EXCLUDED.rows, writer_id = EXCLUDED.writer_id,
    error_type = EXCLUDED.error_type, error_message = EXCLUDED.error_message, next_try_at = EXCLUDED.next_try_at,
    waived_at = EXCLUDED.waived_at, waive_event_id = EXCLUDED.waive_event_id, waive_seq = EXCLUDED.waive_seq,
    waive_reason = EXCLUDED.waive_reason, place = EXCLUDED.place, erase = EXCLUDED.erase
WHERE d.seq < EXCLUDED.seq

-- name: move_checkpoints
UPDATE checkpoints AS c SET
    position = n.position, next_offset = n.next_offset, occurred_at = n.occurred_at, cause = n.cause
FROM unnest(%s::integer[], %s::bigint[], %s::bigint[], %s::bigint[], %s::timestamptz[], %s::bigint[])
    AS n (partition, old_position, position, next_offset, occurred_at, cause)
WHERE c.partition = n.partition AND c.position = n.old_position

-- name: tell_readers
SELECT pg_notify(current_schema() || '_positions', %s)
