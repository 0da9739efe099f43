-- A job as a row, with all that the constraints of the table ask of its status.

-- name: insert
INSERT INTO ledger_v1.jobs (org_id, job_id, partition, status, seq, position, cause, vocabulary, workflow_id,
    workflow_version, workflow_ref, domain, priority, max_run_seconds, destinations, schedule_id, correlation_id,
    private, attempt, dispatches, worker_id, retry_at, submitted_at, claimed_at, extracted_at, result_ref, finished_at,
    finished_seq, error_type, opened_by)
VALUES (%(org_id)s, %(job_id)s, 0, %(status)s, 1, 1, 0, 'workflow', %(workflow_id)s, 1, 'r', %(domain)s, 0, 60, '[]',
    %(schedule_id)s, '', '', %(claimed)s::int, 1, %(worker)s, %(retry)s, %(submitted_at)s, %(claimed_at)s,
    %(extracted)s, %(result_ref)s, %(finished)s, %(finished_seq)s, %(error_type)s, %(opened_by)s)
