-- The log of attempts. Its writers share a lock that an erasure takes alone: behind it, none of them writes of the job.

-- name: share
SELECT pg_advisory_xact_lock_shared(1785491049, 1)

-- name: save
INSERT INTO webhooks.attempts (
    org_id, webhook_id, job_id, destination_id, message_id, generation, try_number, attempted_at, latency_ms, status,
    error_type, answer
)
SELECT n.org_id, n.webhook_id, n.job_id, n.destination_id, n.message_id, n.generation, n.try_number, n.attempted_at,
    n.latency_ms, n.status, n.error_type, n.answer
FROM unnest(
    %(org_id)s::text[], %(webhook_id)s::text[], %(job_id)s::text[], %(destination_id)s::text[], %(message_id)s::text[],
    %(generation)s::bigint[], %(try_number)s::bigint[], %(attempted_at)s::timestamptz[], %(latency_ms)s::bigint[],
    %(status)s::integer[], %(error_type)s::text[], %(answer)b::text[]
) WITH ORDINALITY AS n (
    org_id, webhook_id, job_id, destination_id, message_id, generation, try_number, attempted_at, latency_ms, status,
    error_type, answer, place
)
WHERE NOT EXISTS (
    SELECT FROM extraction.stored_results AS r
    WHERE r.org_id = n.org_id AND r.job_id = n.job_id AND r.erased_at IS NOT NULL
)
ORDER BY n.place

-- name: throttle
INSERT INTO webhooks.throttles AS t (org_id, webhook_id, until)
SELECT * FROM unnest(%(org_id)s::text[], %(webhook_id)s::text[], %(until)s::timestamptz[])
ON CONFLICT (org_id, webhook_id) DO UPDATE SET until = greatest(t.until, excluded.until)

-- name: prune_old
DELETE FROM webhooks.attempts WHERE attempt_id IN (
    SELECT attempt_id FROM webhooks.attempts WHERE attempted_at < %(before)s ORDER BY attempted_at LIMIT %(most)s
)

-- name: prune_many
DELETE FROM webhooks.attempts WHERE attempt_id IN (
    SELECT attempt_id FROM (
        SELECT attempt_id, row_number() OVER (PARTITION BY org_id, webhook_id ORDER BY attempt_id DESC) AS place
        FROM webhooks.attempts
    ) AS a WHERE place > %(kept)s LIMIT %(most)s
)

-- name: prune_throttles
DELETE FROM webhooks.throttles WHERE until < %(before)s

-- name: shut
SELECT pg_advisory_xact_lock(1785491049, 1)

-- name: erase
DELETE FROM webhooks.attempts AS a USING unnest(%(org_id)s::text[], %(job_id)s::text[]) AS gone (org_id, job_id)
WHERE a.org_id = gone.org_id AND a.job_id = gone.job_id
