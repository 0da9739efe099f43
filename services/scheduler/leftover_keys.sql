-- Keys of jobs that never were, or are no more. Names without a schema are resolved by search_path.

-- name: old_keys
SELECT k.org_id, k.job_id, c.partition, k.touched_at
FROM (
    SELECT org_id, job_id, touched_at FROM sealing.job_keys
    WHERE (touched_at, org_id, job_id) > (%(touched_at)s, %(org_id)s, %(job_id)s)
        AND touched_at < clock_timestamp() - make_interval(secs => %(grace_seconds)s)
    ORDER BY touched_at, org_id, job_id
    LIMIT %(most)s
) AS k
JOIN config.orgs AS c ON c.org_id = k.org_id
ORDER BY k.touched_at, k.org_id, k.job_id

-- name: destroy_leftovers
-- Of these keys, those whose jobs the read model would know: it has the log up to where every command of before was
-- decided. A deleted job has none, but for one that was made when somebody submitted it once more, unaware of what had
-- become of it. Who is about to submit such a job again has touched its key, and this waits for that.
DELETE FROM sealing.job_keys AS s
USING unnest(%(orgs)s::text[], %(jobs)s::text[]) AS k (org_id, job_id)
WHERE s.org_id = k.org_id COLLATE "C" AND s.job_id = k.job_id COLLATE "C"
    AND s.touched_at < clock_timestamp() - make_interval(secs => %(grace_seconds)s)
    AND EXISTS (SELECT FROM checkpoints WHERE partition = %(partition)s AND position >= %(position)s)
    AND NOT EXISTS (SELECT FROM jobs AS j WHERE j.org_id = s.org_id AND j.job_id = s.job_id)

-- name: reached
SELECT true FROM checkpoints WHERE partition = %(partition)s AND position >= %(position)s
