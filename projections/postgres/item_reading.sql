-- Chunks, lines and statistics of a job; names are resolved by search_path. {columns} are the fields of the struct that a row becomes.

-- name: of_rows
SELECT {columns} FROM (
    SELECT c.*, l.until_item
    FROM unnest(%(links)s::text[], %(chunks)s::bigint[], %(items)s::bigint[]) AS l (job_id, chunks, until_item)
    CROSS JOIN LATERAL (
        SELECT * FROM item_chunks
        WHERE org_id = %(org_id)s AND job_id = l.job_id COLLATE "C" AND chunk < l.chunks
            AND first_row < %(before)s AND first_row + rows > %(offset)s
            -- of a job's chunks each begins where the one before it ends: no earlier one can hold the offset
            AND first_row >= coalesce((
                SELECT max(first_row) FROM item_chunks
                WHERE org_id = %(org_id)s AND job_id = l.job_id COLLATE "C" AND first_row <= %(offset)s), 0)
    ) AS c
) AS p
WHERE rows > 0
ORDER BY first_row
LIMIT %(limit)s

-- name: of_items
SELECT {columns} FROM (
    SELECT c.*, l.until_item, l.n
    FROM unnest(%(links)s::text[], %(chunks)s::bigint[], %(items)s::bigint[])
        WITH ORDINALITY AS l (job_id, chunks, until_item, n)
    JOIN item_chunks AS c
        ON c.org_id = %(org_id)s AND c.job_id = l.job_id COLLATE "C" AND c.chunk < l.chunks
    WHERE c.first_item < l.until_item AND c.next_item > %(from_item)s
) AS p
ORDER BY n, first_item
LIMIT %(limit)s

-- name: said
SELECT {columns} FROM job_logs
WHERE org_id = %(org_id)s AND job_id = %(job_id)s AND position > %(after)s
ORDER BY position
LIMIT %(limit)s

-- name: said_last
SELECT {columns} FROM job_logs
WHERE org_id = %(org_id)s AND job_id = %(job_id)s AND position < %(before)s
ORDER BY position DESC
LIMIT %(limit)s

-- name: counted
SELECT {columns} FROM job_stats WHERE org_id = %(org_id)s AND job_id = %(job_id)s

-- name: links
SELECT coalesce(max((progress ->> 'link')::bigint), 1) FROM jobs
WHERE org_id = %(org_id)s AND chain_id = %(chain_id)s
