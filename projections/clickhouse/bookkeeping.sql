-- Statements of the bookkeeping; table names are resolved by search_path.

-- name: lock
SELECT pg_try_advisory_lock(hashtextextended('jobledger projection ' || current_schema(), 0))

-- name: begin_partitions
INSERT INTO checkpoints (partition, position, next_offset)
SELECT p, 0, 0 FROM unnest(%s::integer[]) AS p
ON CONFLICT DO NOTHING

-- name: load_checkpoints
SELECT partition, position, next_offset FROM checkpoints

-- name: load_plan
SELECT token, partition, from_position, from_offset, to_position, to_offset FROM planned

-- name: plan
INSERT INTO planned (token, partition, from_position, from_offset, to_position, to_offset)
SELECT %s, p.partition, c.position, c.next_offset, p.to_position, p.to_offset
FROM unnest(%s::integer[], %s::bigint[], %s::bigint[], %s::bigint[])
    AS p (partition, from_position, to_position, to_offset)
JOIN checkpoints AS c ON c.partition = p.partition AND c.position = p.from_position

-- name: move_checkpoints
UPDATE checkpoints AS c SET position = p.to_position, next_offset = p.to_offset
FROM planned AS p
WHERE p.token = %s AND c.partition = p.partition AND c.position = p.from_position

-- name: forget_plan
DELETE FROM planned WHERE token = %s
