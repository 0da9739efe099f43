-- title: Slots of workers
-- answers: How many slots do the workers have, and how many of them are taken, over time?
-- units: slots=slots taken=slots workers=workers
-- drawn: lines at: slots taken
-- Workers say so to every partition: of each worker and bucket the newest sign of life counts.
SELECT
    at,
    sum(w.slots) AS slots,
    slots - sum(w.free) AS taken,
    count() AS workers
FROM (
    SELECT
        toStartOfInterval(e.occurred_at, toIntervalSecond({bucket:UInt32})) AS at,
        worker_id,
        argMax(e.slots, e.occurred_at) AS slots,
        argMax(e.free_slots, e.occurred_at) AS free
    FROM job_events AS e
    WHERE org_id = '' AND e.event_type = 'WorkerAlive'
        AND e.occurred_at >= {since:DateTime64(6, 'UTC')} AND e.occurred_at < {until:DateTime64(6, 'UTC')}
    GROUP BY at, worker_id
) AS w
GROUP BY at
ORDER BY at
