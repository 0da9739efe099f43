-- A read model that is full: one org has nearly all jobs. Times go up with the numbers of jobs, as ids do.

-- name: jobs
INSERT INTO jobs (org_id, job_id, partition, status, seq, position, cause, vocabulary, workflow_id, workflow_version,
    workflow_ref, domain, priority, max_run_seconds, destinations, schedule_id, correlation_id, private, attempt,
    dispatches, submitted_at, claimed_at, extracted_at, result_ref, finished_at, finished_seq, error_type, opened_by,
    url, expired_at, chain_id, progress)
SELECT CASE WHEN n %% 50 = 0 THEN 'small' ELSE 'acme' END, lpad(n::text, 36, '0'), 0, status, 1, n, 0, 'workflow',
    'w' || n %% 40, 1, 'r', 'd' || n %% 200 || '.example', 0, 60, '[]', CASE WHEN n %% 9 = 0 THEN 's' || n %% 30 END,
    '', '', 1, 1, at, at, CASE WHEN extracted THEN at END, CASE WHEN extracted THEN 'r' END,
    CASE WHEN ended THEN at END, CASE WHEN ended THEN 1 END,
    CASE WHEN status = 'failed' THEN (ARRAY['timed_out', 'providers_exhausted', 'worker_lost'])[1 + n %% 3] END,
    CASE WHEN status = 'completed' THEN ARRAY[]::uuid[] END, 'https://d.example/' || n,
    CASE WHEN status = 'completed' AND n %% 20 = 1 THEN at END, CASE WHEN n %% 5000 = 1 THEN lpad(n::text, 36, '0') END,
    CASE WHEN n %% 5000 = 1 THEN '{"link": 1}'::jsonb END
FROM (
    SELECT n, status, at, status IN ('completed', 'extraction_done') AS extracted,
        status IN ('completed', 'failed') AS ended
    FROM (
        SELECT n, timestamptz '2025-06-15 15:00:00Z' + n * interval '1 second' AS at,
            CASE WHEN n %% 211 = 0 THEN 'extraction_done'
                ELSE (ARRAY['completed', 'completed', 'completed', 'failed', 'pending'])[1 + n %% 5] END AS status
        FROM generate_series(1, %(jobs)s::bigint) AS n
    ) AS chosen
) AS made

-- name: deliveries
INSERT INTO extraction_deliveries (org_id, job_id, destination_id, generation, partition, kind, status, tries,
    requested_at, seq, position, acked_at, ack_event_id, ack_seq, rows, error_type)
SELECT j.org_id, j.job_id, d.destination_id, 1, 0, d.kind, d.status, 1, j.extracted_at, 1, j.position,
    CASE WHEN d.status = 'acked' THEN j.extracted_at END, CASE WHEN d.status = 'acked' THEN gen_random_uuid() END,
    CASE WHEN d.status = 'acked' THEN 1 END, CASE WHEN d.status = 'acked' THEN 1 END,
    CASE WHEN d.status = 'dead_lettered' THEN 'http_503' END
FROM jobs AS j
CROSS JOIN LATERAL (VALUES
    ('internal-postgres', 'postgres', 'acked', 1), ('hook-1', 'webhook', 'acked', 3),
    ('hook-2', 'webhook', 'dead_lettered', 11)) AS d (destination_id, kind, status, one_of)
WHERE j.extracted_at IS NOT NULL AND j.position % d.one_of = 0

-- name: transitions
INSERT INTO job_transitions (org_id, job_id, seq, event_id, event_type, status, attempt, occurred_at, partition, position,
    actor)
SELECT org_id, job_id, s, gen_random_uuid(), 'NodeFinished', 'running', 1, submitted_at, 0, position, 'worker:w'
FROM jobs CROSS JOIN generate_series(1, 5) AS s WHERE position % 25 = 7

-- name: trace
INSERT INTO job_trace (org_id, job_id, seq, event_id, partition, attempt, step, node_id, node_kind, provider, try_number,
    outcome, status_code, latency_ms, started_at, ended_at, body_bytes)
SELECT org_id, job_id, seq, event_id, 0, 1, seq, 'fetch', 'service', 'direct', 1, 'succeeded', 200, 7, occurred_at,
    occurred_at, 0
FROM job_transitions

-- name: results
INSERT INTO extraction.stored_results
SELECT gen_random_uuid(), org_id, job_id, 'internal-postgres', 1, domain, '', '', '{}', 0, '', 0, 0, 0, 0, extracted_at,
    extracted_at
FROM jobs WHERE extracted_at IS NOT NULL AND expired_at IS NULL AND position % 2 = 0

-- name: fires
INSERT INTO schedule_fires (org_id, seq, schedule_id, event_id, partition, position, due_at, how, outcome, due_times,
    job_ids, fired_at, actor)
SELECT org_id, position, schedule_id, gen_random_uuid(), 0, position, submitted_at, 'cron', 'submitted', 1, ARRAY[job_id],
    submitted_at, 'timer'
FROM jobs WHERE schedule_id IS NOT NULL

-- name: credits
INSERT INTO credit_transactions (org_id, position, partition, event_id, kind, credits, balance, job_id, occurred_at, actor)
SELECT org_id, position, 0, gen_random_uuid(), 'debit', -1, 1, job_id, submitted_at, 'api:k'
FROM jobs WHERE position % 4 = 0

-- name: chunks
INSERT INTO item_chunks (org_id, job_id, chunk, chain_id, seq, event_id, partition, position, attempt, occurred_at,
    items_ref, rows_bytes, outcomes_bytes, stats_bytes, digest, first_item, next_item, first_row, rows, errors,
    resume_item, errors_before)
SELECT org_id, job_id, n, chain_id, n + 1, gen_random_uuid(), 0, position + n, 1, submitted_at, 'r', 9, 9, 9, '',
    n * 1000, n * 1000 + 1000, n * 900, 900, 100, n * 1000 + 1000, n * 100
FROM jobs CROSS JOIN generate_series(0, 999) AS n WHERE chain_id IS NOT NULL

-- name: logs
INSERT INTO job_logs (org_id, job_id, seq, number, event_id, partition, position, attempt, occurred_at, lines)
SELECT org_id, job_id, n + 1, n, gen_random_uuid(), 0, position + n, 1, submitted_at, '[]'
FROM jobs CROSS JOIN generate_series(0, 999) AS n WHERE chain_id IS NOT NULL

-- name: stats
INSERT INTO job_stats (org_id, job_id, seq, number, event_id, partition, position, attempt, occurred_at, scraped, final,
    routed, stats)
SELECT org_id, job_id, 1, 0, gen_random_uuid(), 0, position, 1, submitted_at, 7, true, 0, '{}'
FROM jobs WHERE position % 10 = 0

-- name: deleted
INSERT INTO deleted_jobs (org_id, job_id, partition, status, seq, position, attempt, erasures, deleted_at)
SELECT org_id, 'gone' || job_id, 0, 'completed', 1, position, 1, 0, submitted_at FROM jobs WHERE position % 40 = 0

-- name: spiders
INSERT INTO jobs (org_id, job_id, partition, status, seq, position, cause, vocabulary, workflow_id, workflow_version,
    workflow_ref, domain, priority, max_run_seconds, destinations, correlation_id, private, attempt, dispatches,
    submitted_at, claimed_at, finished_at, finished_seq, error_type, input, progress)
SELECT 'acme', 's' || lpad(n::text, 35, '0'), 1, status, 1, n, 0, 'spider', 'shop-' || n %% 40, 1, 'r', '', 100, 60, '[]',
    '', '', (status <> 'pending')::int, 1, at, CASE WHEN status <> 'pending' THEN at END,
    CASE WHEN status <> 'pending' THEN at END, CASE WHEN status <> 'pending' THEN 1 END,
    CASE WHEN status = 'failed' THEN (ARRAY['timed_out', 'critical_log', 'worker_lost'])[1 + n %% 3] END,
    jsonb_build_object('spiders', jsonb_build_array('books-' || n %% 3)), '{"rows": 3}'
FROM (
    SELECT n, timestamptz '2025-06-15 15:00:00Z' + n * interval '10 seconds' AS at,
        (ARRAY['cancelled', 'cancelled', 'failed', 'failed', 'pending'])[1 + n / 40 %% 5] AS status
    FROM generate_series(1, %(jobs)s::bigint / 10) AS n
) AS made

-- name: statistics
ANALYZE jobs, job_transitions, job_trace, extraction_deliveries, extraction.stored_results, schedule_fires,
    credit_transactions, deleted_jobs, item_chunks, job_logs, job_stats
