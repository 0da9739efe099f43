-- What the bookkeeping of the read models says.

-- name: active_schema
SELECT schema_name FROM jobledger.active_version WHERE read_model = 'postgres'

-- name: has_checkpoints
SELECT to_regclass(%s) IS NOT NULL

-- name: positions
SELECT partition, position FROM {schema}.checkpoints ORDER BY partition
