-- name: keys_of_jobs
SELECT j.org_id, j.job_id, j.key_id, j.sealed, o.sealed
FROM unnest(%(orgs)s::text[], %(jobs)s::text[]) AS k (org_id, job_id)
JOIN sealing.job_keys AS j ON j.org_id = k.org_id COLLATE "C" AND j.job_id = k.job_id COLLATE "C"
JOIN sealing.org_keys AS o ON o.org_id = j.org_id AND o.key_id = j.key_id

-- name: having_keys
SELECT j.org_id, j.job_id FROM unnest(%(orgs)s::text[], %(jobs)s::text[]) AS k (org_id, job_id)
JOIN sealing.job_keys AS j ON j.org_id = k.org_id COLLATE "C" AND j.job_id = k.job_id COLLATE "C"

-- name: destroy
DELETE FROM sealing.job_keys AS j USING unnest(%(orgs)s::text[], %(jobs)s::text[]) AS k (org_id, job_id)
WHERE j.org_id = k.org_id COLLATE "C" AND j.job_id = k.job_id COLLATE "C"

-- name: newest_org_key
SELECT key_id, sealed FROM sealing.org_keys WHERE org_id = %(org_id)s ORDER BY created_at DESC, key_id DESC LIMIT 1

-- name: save_job_keys
INSERT INTO sealing.job_keys (org_id, job_id, key_id, sealed)
SELECT o.org_id, k.job_id, o.key_id, k.sealed
FROM sealing.org_keys AS o, unnest(%(jobs)s::text[], %(sealed)s::bytea[]) AS k (job_id, sealed)
WHERE o.org_id = %(org_id)s AND o.key_id = %(key_id)s
ON CONFLICT DO NOTHING
RETURNING job_id

-- name: touch
UPDATE sealing.job_keys AS j SET touched_at = clock_timestamp()
FROM unnest(%(orgs)s::text[], %(jobs)s::text[]) AS k (org_id, job_id)
WHERE j.org_id = k.org_id COLLATE "C" AND j.job_id = k.job_id COLLATE "C"

-- name: save_org_key
INSERT INTO sealing.org_keys (org_id, key_id, sealed)
SELECT %(org_id)s::text, %(key_id)s::integer, %(sealed)s::bytea
WHERE NOT EXISTS (SELECT FROM sealing.org_keys WHERE org_id = %(org_id)s::text)
ON CONFLICT DO NOTHING

-- name: save_org
INSERT INTO sealing.orgs (org_id, erasure) VALUES (%(org_id)s, %(erasure)s)
ON CONFLICT (org_id) DO UPDATE SET erasure = excluded.erasure, changed_at = clock_timestamp()
WHERE orgs.erasure <> excluded.erasure

-- name: org
SELECT erasure, changed_at FROM sealing.orgs WHERE org_id = %(org_id)s

-- name: sealing_orgs
SELECT org_id FROM sealing.orgs WHERE org_id = ANY(%(orgs)s)

-- name: org_keys
SELECT org_id, key_id, sealed FROM sealing.org_keys ORDER BY org_id, key_id

-- name: reseal_org_key
UPDATE sealing.org_keys SET sealed = %(resealed)s
WHERE org_id = %(org_id)s AND key_id = %(key_id)s AND sealed = %(sealed)s
