-- Which versions of the read model in Postgres there are.

-- name: has_active
SELECT to_regclass('jobledger.active_version') IS NOT NULL

-- name: active_schema
SELECT schema_name FROM jobledger.active_version WHERE read_model = 'postgres'
