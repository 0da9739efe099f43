-- What verification reads of ClickHouse, and of its bookkeeping in Postgres.

-- name: checkpoints
SELECT partition, position FROM clickhouse_v1.checkpoints ORDER BY partition

-- name: held
SELECT partition, max(position) FROM job_events GROUP BY partition

-- name: job_status
SELECT * FROM job_status

-- name: job_events
SELECT * FROM job_events WHERE partition = {partition:Int32} ORDER BY position
