-- name: save_org
INSERT INTO config.orgs (org_id, name, partition, plan, max_in_flight)
VALUES (%(org_id)s, %(name)s, %(partition)s, %(plan)s, %(max_in_flight)s)
ON CONFLICT (org_id) DO UPDATE
    SET name = excluded.name, plan = excluded.plan, max_in_flight = excluded.max_in_flight
    WHERE orgs.registered_at IS NULL
RETURNING org_id, name, partition, plan, max_in_flight, created_at, registered_at

-- name: confirm_org
UPDATE config.orgs SET registered_at = clock_timestamp()
WHERE org_id = %(org_id)s AND registered_at IS NULL
RETURNING org_id, name, partition, plan, max_in_flight, created_at, registered_at

-- name: change_org_limit
UPDATE config.orgs SET max_in_flight = %(max_in_flight)s
WHERE org_id = %(org_id)s
RETURNING org_id, name, partition, plan, max_in_flight, created_at, registered_at

-- name: org
SELECT org_id, name, partition, plan, max_in_flight, created_at, registered_at
FROM config.orgs WHERE org_id = %(org_id)s

-- name: orgs
SELECT org_id, name, partition, plan, max_in_flight, created_at, registered_at
FROM config.orgs ORDER BY created_at, org_id

-- name: save_key
INSERT INTO config.api_keys (key_id, org_id, name, digest, scopes)
VALUES (%(key_id)s, %(org_id)s, %(name)s, %(digest)s, %(scopes)s)
RETURNING key_id, org_id, name, digest, scopes, created_at, revoked_at

-- name: keys_of_org
SELECT key_id, org_id, name, digest, scopes, created_at, revoked_at
FROM config.api_keys WHERE org_id = %(org_id)s ORDER BY created_at, key_id

-- name: revoke_key
UPDATE config.api_keys SET revoked_at = coalesce(revoked_at, clock_timestamp())
WHERE org_id = %(org_id)s AND key_id = %(key_id)s
RETURNING key_id, org_id, name, digest, scopes, created_at, revoked_at

-- name: grant_of_key
SELECT k.key_id, k.org_id, k.digest, k.scopes, o.partition
FROM config.api_keys k JOIN config.orgs o USING (org_id)
WHERE k.key_id = %(key_id)s AND k.revoked_at IS NULL AND o.registered_at IS NOT NULL

-- name: lock_workflow
SELECT pg_advisory_xact_lock(hashtextextended(%(org_id)s || '/' || %(workflow_id)s, 7))

-- name: newest_version
SELECT workflow_id, version, state, document, ref, created_at, published_at
FROM config.workflows WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s
ORDER BY version DESC LIMIT 1

-- name: save_version
INSERT INTO config.workflows (org_id, workflow_id, version, state, document, ref)
VALUES (%(org_id)s, %(workflow_id)s, %(version)s, 'draft', %(document)s, %(ref)s)
RETURNING workflow_id, version, state, document, ref, created_at, published_at

-- name: version
SELECT workflow_id, version, state, document, ref, created_at, published_at
FROM config.workflows WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s AND version = %(version)s

-- name: withdraw_others
UPDATE config.workflows SET state = 'draft'
WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s AND version <> %(version)s AND state = 'published'

-- name: publish_version
UPDATE config.workflows SET state = 'published', published_at = clock_timestamp()
WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s AND version = %(version)s AND state = 'draft'

-- name: versions_of_workflow
SELECT workflow_id, version, state, document, ref, created_at, published_at
FROM config.workflows WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s
ORDER BY version DESC

-- name: workflows_of_org
SELECT DISTINCT ON (workflow_id) workflow_id, version, state, document, ref, created_at, published_at
FROM config.workflows WHERE org_id = %(org_id)s
ORDER BY workflow_id, (state = 'published') DESC, version DESC

-- name: runnable
SELECT workflow_id, version, ref
FROM config.workflows
WHERE org_id = %(org_id)s AND state = 'published'
  AND (%(workflow_id)s::text IS NULL OR workflow_id = %(workflow_id)s)
ORDER BY workflow_id LIMIT 2

-- name: save_destination
INSERT INTO config.destinations (org_id, destination_id, kind, gating, on_exhausted)
VALUES (%(org_id)s, %(destination_id)s, %(kind)s, %(gating)s, %(on_exhausted)s)
ON CONFLICT DO NOTHING

-- name: destinations_of_org
SELECT destination_id, kind, gating, on_exhausted
FROM config.destinations WHERE org_id = %(org_id)s AND enabled ORDER BY destination_id
