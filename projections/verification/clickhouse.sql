-- What verification reads of ClickHouse.

-- name: held
-- How far each table that knows positions has each partition.
SELECT 'job_events' AS name, partition, max(position) FROM job_events GROUP BY partition
UNION ALL
SELECT 'credit_moves', partition, max(position) FROM credit_moves GROUP BY partition
UNION ALL
SELECT 'stage_positions', partition, toInt64(max(bitmapMax(positions))) FROM stage_positions GROUP BY partition

-- name: job_status
SELECT * FROM job_status

-- name: expired_jobs
-- Not as FINAL shows them: a row that is there twice was inserted twice.
SELECT org_id, job_id, expired_at FROM expired_jobs

-- name: deleted_jobs
SELECT org_id, job_id FROM deleted_jobs

-- name: gate_violations
SELECT org_id, job_id, opened_by, recorded_opened_by FROM gate_violations

-- name: job_events
-- What comes in while we look lies behind the last position and is not looked at.
SELECT * FROM job_events WHERE partition = {partition:Int32} AND position <= {last:Int64} ORDER BY position

-- name: credit_moves
-- Not as FINAL shows them: a row that is there twice was inserted twice.
SELECT org_id, position, kind, credits, occurred_at, count() AS copies FROM credit_moves
WHERE partition = {partition:Int32} AND position <= {last:Int64} GROUP BY ALL

-- name: stage_positions
SELECT org_id, hour, stage, bitmapToArray(groupBitmapMergeState(s.positions)) AS positions FROM stage_positions AS s
WHERE s.partition = {partition:Int32} GROUP BY org_id, hour, stage

-- name: results
SELECT id, org_id, job_id, destination_id, generation, domain, schema_id, data_type, normalized, replaced_characters,
       raw_blob_key, quality_completeness, quality_validation, quality_composite, latency_ms
FROM extraction_results FINAL WHERE org_id IN %(orgs)s AND job_id IN %(jobs)s

-- name: result_keys
SELECT org_id, job_id, destination_id, generation FROM extraction_results FINAL
