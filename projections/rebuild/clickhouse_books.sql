-- What a rebuild of the read model in ClickHouse does in its bookkeeping in Postgres.

-- name: has_books
SELECT to_regclass('clickhouse_v1.planned') IS NOT NULL

-- name: schemas
SELECT nspname FROM pg_namespace WHERE nspname ~ '^clickhouse_v[0-9]+$' AND nspname <> 'clickhouse_v1'

-- name: positions
SELECT partition, position FROM clickhouse_v1.checkpoints

-- name: hold_checkpoints
LOCK TABLE clickhouse_v1.checkpoints IN EXCLUSIVE MODE

-- name: under_way
SELECT count(*) FROM clickhouse_v1.planned

-- name: note_version
INSERT INTO jobledger.active_version (read_model, schema_name) VALUES ('clickhouse', %s)
ON CONFLICT (read_model) DO UPDATE SET schema_name = EXCLUDED.schema_name, since = now()

-- name: drop
DROP SCHEMA IF EXISTS {schema} CASCADE
