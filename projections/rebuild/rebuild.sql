-- What a rebuild of the read model in Postgres does beside folding.

-- name: claim
SELECT pg_try_advisory_lock(hashtextextended('jobledger rebuild ' || %s, 0))

-- name: active_schema
SELECT schema_name FROM jobledger.active_version WHERE read_model = 'postgres'

-- name: schemas
SELECT nspname FROM pg_namespace WHERE nspname ~ %s

-- name: has_migrations
SELECT to_regclass(%s) IS NOT NULL

-- name: migrations
SELECT name, checksum FROM {schema}.migrations

-- name: positions
SELECT partition, position FROM {schema}.checkpoints

-- name: hold_checkpoints
LOCK TABLE {schema}.checkpoints IN EXCLUSIVE MODE

-- name: switch
UPDATE jobledger.active_version SET schema_name = %s, since = now()
WHERE read_model = 'postgres' AND schema_name = %s

-- name: retire
ALTER SCHEMA {schema} RENAME TO {retired}

-- name: rights
-- Statements that give whom a version's owner gave rights to the same rights on the tables and views of another.
SELECT format('GRANT %%s ON SCHEMA %%I TO %%I', a.privilege_type, %(to)s::text, r.rolname)
FROM pg_namespace AS n, aclexplode(n.nspacl) AS a JOIN pg_roles AS r ON r.oid = a.grantee
WHERE n.nspname = %(of)s AND a.grantee <> n.nspowner
UNION ALL
SELECT format('GRANT %%s ON %%I.%%I TO %%I', a.privilege_type, %(to)s::text, c.relname, r.rolname)
FROM pg_class AS c JOIN pg_class AS t ON t.relname = c.relname AND t.relnamespace = to_regnamespace(%(to)s::text),
    aclexplode(c.relacl) AS a JOIN pg_roles AS r ON r.oid = a.grantee
WHERE c.relnamespace = to_regnamespace(%(of)s::text) AND c.relkind IN ('r', 'v') AND a.grantee <> c.relowner

-- name: tell_readers
SELECT pg_notify(%s, %s)

-- name: drop
DROP SCHEMA IF EXISTS {schema} CASCADE

-- name: job_tables
SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r' AND a.attname = 'job_id' AND NOT a.attisdropped
    AND a.attnotnull AND c.relname <> 'deleted_jobs'
ORDER BY c.relname

-- name: erase_deleted
DELETE FROM {schema}.{table} AS t USING {active}.deleted_jobs AS d WHERE t.org_id = d.org_id AND t.job_id = d.job_id
