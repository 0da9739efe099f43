-- Archives that no version has; names without a schema are resolved by search_path.

-- name: orgs_to_look_at
SELECT org_id, partition FROM config.orgs WHERE registered_at IS NOT NULL ORDER BY org_id

-- name: unused
SELECT k.key
FROM unnest(%(keys)s::text[]) AS k (key)
WHERE NOT EXISTS (SELECT FROM config.spider_deploys AS d WHERE d.org_id = %(org_id)s AND d.archive_ref = k.key)
    AND NOT EXISTS (
        SELECT FROM jobs AS j
        WHERE j.org_id = %(org_id)s AND j.vocabulary = 'spider' AND j.workflow_ref = k.key COLLATE "C"
            AND j.status IN ('pending', 'running', 'waiting_retry', 'extraction_done'))

-- name: hold_archive_alone
-- Who deploys it holds it too, until its version is there.
SELECT pg_advisory_xact_lock(hashtextextended(%(ref)s, 19))
