-- What the decider reads of the read model to bring a job back into memory. Names are resolved by search_path.

-- name: active_schema
SELECT schema_name FROM jobledger.active_version WHERE read_model = 'postgres'

-- name: positions
SELECT partition, position FROM checkpoints

-- name: position
SELECT position FROM checkpoints WHERE partition = %s

-- name: job
SELECT j.org_id, j.job_id, j.vocabulary, j.workflow_id, j.item_credits, j.progress, j.workflow_ref, j.domain,
    j.private, j.priority, j.max_run_seconds,
    j.destinations, j.status, j.seq, j.attempt, j.dispatches, coalesce(j.boot_id, '') AS boot_id,
    j.submitted_at, j.claimed_at, j.extracted_at, j.finished_at, coalesce(j.ended_for, '') AS ended_for,
    (SELECT t.position FROM job_transitions AS t
        WHERE t.org_id = j.org_id AND t.job_id = j.job_id AND t.seq = j.finished_seq) AS ended_position,
    j.expired_at,
    coalesce((SELECT max(v.step) + 1 FROM job_trace AS v WHERE v.org_id = j.org_id AND v.job_id = j.job_id), 0) AS step,
    j.result_ref, j.content_type, j.result_bytes, coalesce(j.extraction_ref, '') AS extraction_ref,
    coalesce(j.schema_id, '') AS schema_id, coalesce(j.data_type, '') AS data_type, j.items, j.quality_completeness,
    j.quality_validation, j.quality_composite, j.latency_ms, j.error_type, coalesce(j.rule, '') AS rule,
    coalesce(j.node_id, '') AS node_id, coalesce(j.destination_id, '') AS destination_id
FROM jobs AS j
WHERE j.org_id = %s AND j.job_id = %s AND j.finished_at IS NOT NULL

-- name: deliveries
SELECT destination_id, generation, kind, status, tries, requested_at, acked_at, waived_at, next_try_at,
    ack_event_id, ack_seq, waive_event_id, waive_seq, erase
FROM extraction_deliveries WHERE org_id = %s AND job_id = %s
ORDER BY destination_id, generation

-- name: deleted
SELECT org_id, job_id, status, seq, attempt, coalesce(boot_id, '') AS boot_id, erasures, deleted_at
FROM deleted_jobs WHERE org_id = %s AND job_id = %s
