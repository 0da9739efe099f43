-- The digest of a version of the read model, by table, org and day. {columns} are the columns that both versions have.

-- name: columns
SELECT c.relname, a.attname, a.attnum = ANY (i.indkey) AS in_key
FROM pg_class AS c
JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r' AND c.relname <> ALL (%s)
ORDER BY c.relname, a.attname

-- name: buckets
SELECT {org}, {day}, count(*), sum(hashtextextended(ROW({columns})::text, 0)::numeric)::text
FROM {schema}.{table} GROUP BY 1, 2

-- name: rows
SELECT ARRAY[{key}]::text[], hashtextextended(ROW({columns})::text, 0)
FROM {schema}.{table} WHERE {org} = %(org)s AND {day} = %(day)s

-- name: row
SELECT row_to_json(t)::jsonb FROM {schema}.{table} AS t WHERE ARRAY[{key}]::text[] = %(key)s::text[] AND {org} = %(org)s

-- name: deleted
SELECT job_id FROM {schema}.deleted_jobs WHERE org_id = %s AND job_id = ANY (%s)
