-- Names are resolved by search_path.

-- name: gone
SELECT k.org_id, k.job_id
FROM unnest(%(orgs)s::text[], %(jobs)s::text[]) AS k (org_id, job_id)
WHERE (EXISTS (
        SELECT FROM deleted_jobs AS d
        WHERE d.org_id = k.org_id COLLATE "C" AND d.job_id = k.job_id COLLATE "C"
            AND d.deleted_at < clock_timestamp() - make_interval(secs => %(grace_seconds)s))
    OR EXISTS (
        SELECT FROM jobs AS j
        WHERE j.org_id = k.org_id COLLATE "C" AND j.job_id = k.job_id COLLATE "C"
            AND j.expired_at < clock_timestamp() - make_interval(secs => %(grace_seconds)s)))
    AND NOT EXISTS (  -- jobs that go on from it have items among its bodies
        SELECT FROM jobs AS l
        WHERE l.org_id = k.org_id COLLATE "C" AND l.chain_id = k.job_id COLLATE "C"
            AND (l.expired_at IS NULL OR l.expired_at >= clock_timestamp() - make_interval(secs => %(grace_seconds)s)))
