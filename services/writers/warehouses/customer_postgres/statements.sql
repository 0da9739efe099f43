-- What the writer asks of a customer's Postgres; {table}, {jobs} and the like are names, quoted. Arrays of texts are sent
-- as they are, in binary: to quote them costs the driver hundreds of times as much.

-- name: lock_schema
SELECT pg_advisory_xact_lock(hashtextextended(%(place)s, 20))

-- name: columns
-- Without those that compute themselves: nothing can be written to them.
SELECT column_name, udt_name FROM information_schema.columns
WHERE table_schema = %(schema)s AND table_name = %(table)s
  AND is_generated = 'NEVER' AND identity_generation IS DISTINCT FROM 'ALWAYS'

-- name: there_are
SELECT to_regclass(%(jobs)s) IS NOT NULL AND to_regclass(%(key)s) IS NOT NULL

-- name: make_table
CREATE TABLE IF NOT EXISTS {table} ({columns})

-- name: make_key
CREATE UNIQUE INDEX IF NOT EXISTS {key} ON {table} (_org_id, _job_id, _item)

-- name: make_jobs
CREATE TABLE IF NOT EXISTS {jobs} (
    org_id     text NOT NULL,
    job_id     text NOT NULL,
    generation bigint NOT NULL,
    PRIMARY KEY (org_id, job_id)
)

-- name: take_jobs
-- Locks each job in the order of its key, so that writers wait for each other and never block each other, and returns
-- those whose generation is not behind what is there: a row of a later one is locked too, and left as it is.
INSERT INTO {jobs} AS held (org_id, job_id, generation)
SELECT org_id, job_id, generation
FROM unnest(%(org_ids)b::text[], %(job_ids)b::text[], %(generations)s::bigint[]) AS new (org_id, job_id, generation)
ORDER BY org_id COLLATE "C", job_id COLLATE "C"
ON CONFLICT (org_id, job_id) DO UPDATE SET generation = excluded.generation
WHERE held.generation <= excluded.generation
RETURNING org_id, job_id

-- name: delete_rows
-- Those of older generations, and of the items that come: others of this generation came in a block before.
DELETE FROM {table} AS held
USING unnest(
    %(org_ids)b::text[], %(job_ids)b::text[], %(generations)s::bigint[], %(first_items)s::bigint[],
    %(next_items)s::bigint[]
) AS new (org_id, job_id, generation, first_item, next_item)
WHERE held._org_id = new.org_id AND held._job_id = new.job_id
  AND (held._generation < new.generation OR held._item >= new.first_item AND held._item < new.next_item)

-- name: copy_rows
COPY {table} ({columns}) FROM STDIN
