-- name: save_org
INSERT INTO config.orgs (org_id, name, partition, plan, max_in_flight)
VALUES (%(org_id)s, %(name)s, %(partition)s, %(plan)s, %(max_in_flight)s)
ON CONFLICT (org_id) DO UPDATE
    SET name = excluded.name, plan = excluded.plan, max_in_flight = excluded.max_in_flight
    WHERE orgs.registered_at IS NULL
RETURNING org_id, name, partition, plan, max_in_flight, max_pending, max_queue_seconds, retention_seconds, paused_at,
    created_at, registered_at

-- name: confirm_org
UPDATE config.orgs SET registered_at = clock_timestamp()
WHERE org_id = %(org_id)s AND registered_at IS NULL
RETURNING org_id, name, partition, plan, max_in_flight, max_pending, max_queue_seconds, retention_seconds, paused_at,
    created_at, registered_at

-- name: change_org_limit
UPDATE config.orgs SET
    max_in_flight = coalesce(%(max_in_flight)s, max_in_flight),
    max_pending = coalesce(%(max_pending)s, max_pending),
    max_queue_seconds = coalesce(%(max_queue_seconds)s, max_queue_seconds),
    retention_seconds = coalesce(%(retention_seconds)s, retention_seconds)
WHERE org_id = %(org_id)s
RETURNING org_id, name, partition, plan, max_in_flight, max_pending, max_queue_seconds, retention_seconds, paused_at,
    created_at, registered_at

-- name: set_org_paused
UPDATE config.orgs SET paused_at = CASE WHEN %(paused)s THEN coalesce(paused_at, clock_timestamp()) END
WHERE org_id = %(org_id)s
RETURNING org_id, name, partition, plan, max_in_flight, max_pending, max_queue_seconds, retention_seconds, paused_at,
    created_at, registered_at

-- name: pause_workflow
INSERT INTO config.paused_workflows (org_id, workflow_id) VALUES (%(org_id)s, %(workflow_id)s)
ON CONFLICT DO NOTHING

-- name: resume_workflow
DELETE FROM config.paused_workflows WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s

-- name: workflow_pause
SELECT workflow_id, paused_at FROM config.paused_workflows WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s

-- name: change_org_plan
UPDATE config.orgs SET plan = %(plan)s
WHERE org_id = %(org_id)s
RETURNING org_id, name, partition, plan, max_in_flight, max_pending, max_queue_seconds, retention_seconds, paused_at,
    created_at, registered_at

-- name: org
SELECT org_id, name, partition, plan, max_in_flight, max_pending, max_queue_seconds, retention_seconds, paused_at,
    created_at, registered_at
FROM config.orgs WHERE org_id = %(org_id)s

-- name: orgs
SELECT org_id, name, partition, plan, max_in_flight, max_pending, max_queue_seconds, retention_seconds, paused_at,
    created_at, registered_at
FROM config.orgs ORDER BY created_at, org_id

-- name: save_key
INSERT INTO config.api_keys (key_id, org_id, name, digest, scopes)
VALUES (%(key_id)s, %(org_id)s, %(name)s, %(digest)s, %(scopes)s)
RETURNING key_id, org_id, name, digest, scopes, created_at, revoked_at, expires_at, last_used_at

-- name: keys_of_org
SELECT key_id, org_id, name, digest, scopes, created_at, revoked_at, expires_at, last_used_at
FROM config.api_keys WHERE org_id = %(org_id)s ORDER BY created_at, key_id

-- name: revoke_key
UPDATE config.api_keys SET revoked_at = coalesce(revoked_at, clock_timestamp())
WHERE org_id = %(org_id)s AND key_id = %(key_id)s
RETURNING key_id, org_id, name, digest, scopes, created_at, revoked_at, expires_at, last_used_at

-- name: expire_key
UPDATE config.api_keys SET expires_at = least(expires_at, clock_timestamp() + %(overlap)s)
WHERE org_id = %(org_id)s AND key_id = %(key_id)s AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > clock_timestamp())
RETURNING key_id, org_id, name, digest, scopes, created_at, revoked_at, expires_at, last_used_at

-- name: note_use_of_key
UPDATE config.api_keys SET last_used_at = clock_timestamp()
WHERE org_id = %(org_id)s AND key_id = %(key_id)s

-- name: grant_of_key
SELECT k.key_id, k.org_id, k.digest, k.scopes, o.partition, o.calls_per_second,
    EXISTS (SELECT FROM sealing.orgs s WHERE s.org_id = k.org_id AND s.erasure) AS erasure
FROM config.api_keys k JOIN config.orgs o USING (org_id)
WHERE k.key_id = %(key_id)s AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
    AND o.registered_at IS NOT NULL

-- name: set_calls_per_second
UPDATE config.orgs SET calls_per_second = %(calls_per_second)s
WHERE org_id = %(org_id)s AND registered_at IS NOT NULL
RETURNING org_id, calls_per_second

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
SELECT workflow_id, version, state, created_at, published_at
FROM config.workflows WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s
ORDER BY version DESC

-- name: workflows_of_org
SELECT DISTINCT ON (workflow_id) workflow_id, version, state, document, ref, created_at, published_at
FROM config.workflows WHERE org_id = %(org_id)s
ORDER BY workflow_id, (state = 'published') DESC, version DESC

-- name: withdraw_version
UPDATE config.workflows SET state = 'draft'
WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s AND state = 'published'

-- name: last_version
SELECT coalesce(max(version), 0)::integer AS number FROM (
    SELECT version FROM config.workflows WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s
    UNION ALL
    SELECT last_version FROM config.former_workflows WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s
) AS numbers

-- name: remember_former
INSERT INTO config.former_workflows (org_id, workflow_id, last_version)
VALUES (%(org_id)s, %(workflow_id)s, %(version)s)
ON CONFLICT (org_id, workflow_id) DO UPDATE SET last_version = excluded.last_version, deleted_at = clock_timestamp()

-- name: delete_workflow
DELETE FROM config.workflows WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s

-- name: lock_routes
SELECT pg_advisory_xact_lock(hashtextextended(%(org_id)s, 13))

-- name: routes_of_others
SELECT route, workflow_id FROM config.workflow_routes
WHERE org_id = %(org_id)s AND route = ANY(%(routes)s) AND workflow_id <> %(workflow_id)s
ORDER BY route

-- name: free_routes
DELETE FROM config.workflow_routes WHERE org_id = %(org_id)s AND workflow_id = %(workflow_id)s

-- name: take_routes
INSERT INTO config.workflow_routes (org_id, route, workflow_id)
SELECT %(org_id)s, route, %(workflow_id)s FROM unnest(%(routes)s::text[]) AS route

-- name: runnable
SELECT workflow_id, version, ref
FROM config.workflows
WHERE org_id = %(org_id)s AND state = 'published' AND workflow_id = %(workflow_id)s

-- name: routed
SELECT r.route, w.workflow_id, w.version, w.ref
FROM config.workflow_routes r JOIN config.workflows w USING (org_id, workflow_id)
WHERE r.org_id = %(org_id)s AND r.route = ANY(%(routes)s) AND w.state = 'published'

-- name: only_published
SELECT workflow_id, version, ref
FROM config.workflows w
WHERE org_id = %(org_id)s AND state = 'published'
  AND NOT EXISTS (SELECT FROM config.workflow_routes r WHERE r.org_id = w.org_id)
LIMIT 2

-- name: save_destination
INSERT INTO config.destinations (org_id, destination_id, kind, gating, on_exhausted)
VALUES (%(org_id)s, %(destination_id)s, %(kind)s, %(gating)s, %(on_exhausted)s)
ON CONFLICT DO NOTHING

-- name: add_destination
INSERT INTO config.destinations (
    org_id, destination_id, kind, gating, on_exhausted, gate_seconds, settings, sealed, fingerprint
)
VALUES (
    %(org_id)s, %(destination_id)s, %(kind)s, %(gating)s, %(on_exhausted)s, %(gate_seconds)s, %(settings)s, %(sealed)s,
    %(fingerprint)s
)
ON CONFLICT DO NOTHING
RETURNING destination_id, kind, gating, on_exhausted, gate_seconds, enabled, settings, sealed, fingerprint

-- name: change_destination
UPDATE config.destinations SET
    gating = coalesce(%(gating)s, gating),
    on_exhausted = coalesce(%(on_exhausted)s, on_exhausted),
    gate_seconds = coalesce(%(gate_seconds)s, gate_seconds),
    enabled = coalesce(%(enabled)s, enabled),
    settings = coalesce(%(settings)s, settings),
    sealed = coalesce(%(sealed)s, sealed),
    fingerprint = coalesce(%(fingerprint)s, fingerprint),
    version = CASE WHEN %(settings)s::jsonb IS NULL AND %(sealed)s::bytea IS NULL THEN version
                   ELSE nextval('config.destination_versions') END
WHERE org_id = %(org_id)s AND destination_id = %(destination_id)s AND kind <> 'postgres' AND project IS NULL
RETURNING destination_id, kind, gating, on_exhausted, gate_seconds, enabled, settings, sealed, fingerprint

-- name: remove_destination
DELETE FROM config.destinations
WHERE org_id = %(org_id)s AND destination_id = %(destination_id)s AND kind <> 'postgres' AND project IS NULL
RETURNING destination_id, kind, gating, on_exhausted, gate_seconds, enabled, settings, sealed, fingerprint

-- name: destinations_of_org
SELECT destination_id, kind, gating, on_exhausted, gate_seconds, enabled, settings, sealed, fingerprint
FROM config.destinations WHERE org_id = %(org_id)s AND project IS NULL ORDER BY destination_id

-- name: sealed_destinations
SELECT org_id, destination_id, sealed FROM config.destinations WHERE sealed IS NOT NULL ORDER BY org_id, destination_id

-- name: reseal_destination
UPDATE config.destinations SET sealed = %(resealed)s
WHERE org_id = %(org_id)s AND destination_id = %(destination_id)s AND sealed = %(sealed)s

-- name: lock_webhooks
SELECT pg_advisory_xact_lock(hashtextextended(%(org_id)s, 11))

-- name: count_webhooks
SELECT count(*)::integer AS number FROM config.webhooks WHERE org_id = %(org_id)s

-- name: save_webhook
INSERT INTO config.webhooks (org_id, webhook_id, url, event_types, gating, on_exhausted, gate_seconds, enabled)
VALUES (
    %(org_id)s, %(webhook_id)s, %(url)s, %(event_types)s, %(gating)s, %(on_exhausted)s, %(gate_seconds)s, %(enabled)s
)
RETURNING webhook_id, url, event_types, gating, on_exhausted, gate_seconds, enabled, disabled_reason,
    disabled_at, created_at, updated_at

-- name: save_secret
INSERT INTO config.webhook_secrets (org_id, webhook_id, sealed) VALUES (%(org_id)s, %(webhook_id)s, %(sealed)s)

-- name: webhook_secrets
SELECT secret_id, org_id, webhook_id, secret, sealed FROM config.webhook_secrets ORDER BY secret_id FOR UPDATE

-- name: clear_webhook_secrets
SELECT secret_id, org_id, webhook_id, secret, sealed FROM config.webhook_secrets WHERE secret IS NOT NULL
ORDER BY secret_id FOR UPDATE

-- name: reseal_secret
UPDATE config.webhook_secrets SET secret = NULL, sealed = %(resealed)s WHERE secret_id = %(secret_id)s

-- name: webhooks_of_org
SELECT webhook_id, url, event_types, gating, on_exhausted, gate_seconds, enabled, disabled_reason,
    disabled_at, created_at, updated_at
FROM config.webhooks WHERE org_id = %(org_id)s ORDER BY created_at, webhook_id

-- name: webhook
SELECT webhook_id, url, event_types, gating, on_exhausted, gate_seconds, enabled, disabled_reason,
    disabled_at, created_at, updated_at
FROM config.webhooks WHERE org_id = %(org_id)s AND webhook_id = %(webhook_id)s

-- name: change_webhook
UPDATE config.webhooks SET
    url = coalesce(%(url)s, url),
    event_types = coalesce(%(event_types)s, event_types),
    gating = coalesce(%(gating)s, gating),
    on_exhausted = coalesce(%(on_exhausted)s, on_exhausted),
    gate_seconds = coalesce(%(gate_seconds)s, gate_seconds),
    enabled = coalesce(%(enabled)s, enabled),
    disabled_reason = CASE WHEN %(enabled)s THEN NULL ELSE disabled_reason END,
    disabled_at = CASE
        WHEN %(enabled)s THEN NULL WHEN %(enabled)s IS FALSE AND enabled THEN clock_timestamp() ELSE disabled_at
    END,
    version = version + (coalesce(%(url)s, url) <> url OR coalesce(%(enabled)s, enabled) AND NOT enabled)::integer,
    updated_at = clock_timestamp()
WHERE org_id = %(org_id)s AND webhook_id = %(webhook_id)s
RETURNING webhook_id, url, event_types, gating, on_exhausted, gate_seconds, enabled, disabled_reason,
    disabled_at, created_at, updated_at

-- name: delete_webhook
DELETE FROM config.webhooks WHERE org_id = %(org_id)s AND webhook_id = %(webhook_id)s
RETURNING webhook_id, url, event_types, gating, on_exhausted, gate_seconds, enabled, disabled_reason,
    disabled_at, created_at, updated_at

-- name: replay
SELECT body_digest, plan::text AS plan, next_cursor FROM config.webhook_replays
WHERE org_id = %(org_id)s AND webhook_id = %(webhook_id)s AND key_digest = %(key_digest)s

-- name: keep_replay
INSERT INTO config.webhook_replays (org_id, webhook_id, key_digest, body_digest, plan, next_cursor)
VALUES (%(org_id)s, %(webhook_id)s, %(key_digest)s, %(body_digest)s, %(plan)s::jsonb, %(next_cursor)s)
ON CONFLICT (org_id, webhook_id, key_digest) DO NOTHING

-- name: forget_replays
DELETE FROM config.webhook_replays WHERE created_at < clock_timestamp() - make_interval(secs => %(seconds)s)

-- name: forget_attempts
DELETE FROM webhooks.attempts WHERE org_id = %(org_id)s AND webhook_id = %(webhook_id)s

-- name: attempts
SELECT attempt_id, job_id, destination_id, message_id, generation, try_number, attempted_at, latency_ms, status,
    error_type, answer
FROM webhooks.attempts
WHERE org_id = %(org_id)s AND webhook_id = %(webhook_id)s AND attempt_id < %(before)s
    AND (%(job_id)s::text IS NULL OR job_id = %(job_id)s) AND (%(message_id)s::text IS NULL OR message_id = %(message_id)s)
ORDER BY attempt_id DESC LIMIT %(limit)s

-- name: paused_endpoints
SELECT webhook_id, until FROM webhooks.throttles WHERE org_id = %(org_id)s AND until > clock_timestamp()

-- name: drop_former_secrets
DELETE FROM config.webhook_secrets
WHERE org_id = %(org_id)s AND webhook_id = %(webhook_id)s AND expires_at IS NOT NULL

-- name: retire_secret
UPDATE config.webhook_secrets SET expires_at = clock_timestamp() + %(overlap)s
WHERE org_id = %(org_id)s AND webhook_id = %(webhook_id)s AND expires_at IS NULL
RETURNING expires_at

-- name: save_credential
INSERT INTO config.provider_credentials (org_id, provider, label, sealed, fingerprint)
VALUES (%(org_id)s, %(provider)s, %(label)s, %(sealed)s, %(fingerprint)s)
ON CONFLICT (org_id, provider) DO UPDATE SET
    label = excluded.label, sealed = excluded.sealed, fingerprint = excluded.fingerprint, updated_at = clock_timestamp()
RETURNING provider, label, fingerprint, created_at, updated_at

-- name: credentials_of_org
SELECT provider, label, fingerprint, created_at, updated_at
FROM config.provider_credentials WHERE org_id = %(org_id)s ORDER BY provider

-- name: delete_credential
DELETE FROM config.provider_credentials WHERE org_id = %(org_id)s AND provider = %(provider)s
RETURNING provider, label, fingerprint, created_at, updated_at

-- name: sealed_credentials
SELECT org_id, provider, sealed FROM config.provider_credentials ORDER BY org_id, provider

-- name: reseal_credential
UPDATE config.provider_credentials SET sealed = %(resealed)s
WHERE org_id = %(org_id)s AND provider = %(provider)s AND sealed = %(sealed)s

-- name: now
SELECT clock_timestamp() AS now

-- name: lock_schedules
SELECT pg_advisory_xact_lock(hashtextextended(%(org_id)s, 17))

-- name: schedules_number
SELECT count(*)::integer AS number FROM config.schedules WHERE org_id = %(org_id)s

-- name: add_schedule
INSERT INTO config.schedules
    (org_id, schedule_id, version, name, cron, timezone, work, tags, missed, enabled, next_run_at, project, sealed, number)
VALUES (%(org_id)s, %(schedule_id)s, 1, %(name)s, %(cron)s, %(timezone)s, %(work)s, %(tags)s, %(missed)s, %(enabled)s,
    %(next_run_at)s, %(project)s, %(sealed)s,
    coalesce(%(number)s, nextval(pg_get_serial_sequence('config.schedules', 'number'))))
RETURNING org_id, schedule_id, version, name, cron, timezone, work, tags, missed, enabled, next_run_at,
    created_at, updated_at, project, number, sealed

-- name: next_schedule_number
SELECT nextval(pg_get_serial_sequence('config.schedules', 'number')) AS number

-- name: sealed_schedules
SELECT org_id, schedule_id, sealed FROM config.schedules WHERE sealed IS NOT NULL ORDER BY org_id, schedule_id

-- name: reseal_schedule
UPDATE config.schedules SET sealed = %(resealed)s
WHERE org_id = %(org_id)s AND schedule_id = %(schedule_id)s AND sealed = %(sealed)s

-- name: schedule
SELECT org_id, schedule_id, version, name, cron, timezone, work, tags, missed, enabled, next_run_at,
    created_at, updated_at, project, number, sealed
FROM config.schedules WHERE org_id = %(org_id)s AND schedule_id = %(schedule_id)s

-- name: lock_schedule
SELECT org_id, schedule_id, version, name, cron, timezone, work, tags, missed, enabled, next_run_at,
    created_at, updated_at, project, number, sealed
FROM config.schedules WHERE org_id = %(org_id)s AND schedule_id = %(schedule_id)s FOR UPDATE

-- name: schedules_page
SELECT org_id, schedule_id, version, name, cron, timezone,
    CASE WHEN octet_length(work::text) <= %(most_work_bytes)s THEN work END AS work, tags, missed, enabled, next_run_at,
    created_at, updated_at, project, number, sealed
FROM config.schedules
WHERE org_id = %(org_id)s AND project IS NULL AND (created_at, schedule_id) < (%(created_at)s, %(schedule_id)s)
    AND (%(enabled)s::boolean IS NULL OR enabled = %(enabled)s)
    AND (cardinality(%(any_tags)s::text[]) = 0 OR tags && %(any_tags)s::text[])
    AND tags @> %(all_tags)s::text[] AND NOT tags && %(no_tags)s::text[]
ORDER BY created_at DESC, schedule_id DESC
LIMIT %(limit)s

-- name: change_schedule
UPDATE config.schedules SET version = version + 1, name = %(name)s, cron = %(cron)s, timezone = %(timezone)s,
    work = %(work)s, tags = %(tags)s, missed = %(missed)s, enabled = %(enabled)s, next_run_at = %(next_run_at)s,
    updated_at = clock_timestamp()
WHERE org_id = %(org_id)s AND schedule_id = %(schedule_id)s
RETURNING org_id, schedule_id, version, name, cron, timezone, work, tags, missed, enabled, next_run_at,
    created_at, updated_at, project, number, sealed

-- name: switch_schedule
UPDATE config.schedules SET version = version + 1, enabled = %(enabled)s, next_run_at = %(next_run_at)s,
    updated_at = clock_timestamp()
WHERE org_id = %(org_id)s AND schedule_id = %(schedule_id)s
RETURNING org_id, schedule_id, version, name, cron, timezone, work, tags, missed, enabled, next_run_at,
    created_at, updated_at, project, number, sealed

-- name: delete_schedule
DELETE FROM config.schedules WHERE org_id = %(org_id)s AND schedule_id = %(schedule_id)s

-- name: due_schedules
SELECT s.org_id, s.schedule_id, s.version, s.name, s.cron, s.timezone, s.work, s.tags,
    s.missed, s.enabled, s.next_run_at, s.created_at, s.updated_at, s.project, s.number, s.sealed, d.partition
FROM (
    SELECT t.org_id, t.schedule_id, t.partition,
        row_number() OVER (PARTITION BY t.partition ORDER BY t.turn, t.next_run_at, t.schedule_id) AS place
    FROM (
        SELECT s.org_id, s.schedule_id, o.partition, s.next_run_at,
            row_number() OVER (PARTITION BY s.org_id ORDER BY s.next_run_at, s.schedule_id) AS turn
        FROM config.schedules s JOIN config.orgs o USING (org_id)
        WHERE s.enabled AND s.next_run_at <= %(now)s AND o.registered_at IS NOT NULL
            AND NOT o.partition = ANY(%(busy)s)
    ) AS t
) AS d JOIN config.schedules s USING (org_id, schedule_id)
WHERE d.place <= %(most)s AND s.enabled
ORDER BY d.partition, d.place

-- name: overdue_schedules
SELECT count(*)::integer AS number FROM config.schedules WHERE enabled AND next_run_at <= %(now)s

-- name: advance_schedule
UPDATE config.schedules SET next_run_at = %(next_run_at)s, enabled = %(next_run_at)s::timestamptz IS NOT NULL
WHERE org_id = %(org_id)s AND schedule_id = %(schedule_id)s AND version = %(version)s AND next_run_at = %(was)s

-- name: add_project
INSERT INTO config.spider_projects (org_id, project, name) VALUES (%(org_id)s, %(project)s, %(name)s)
ON CONFLICT DO NOTHING
RETURNING org_id, project, name, repo_url, repo_ref, env_names, has_token, created_at, updated_at

-- name: project
SELECT org_id, project, name, repo_url, repo_ref, env_names, has_token, created_at, updated_at
FROM config.spider_projects WHERE org_id = %(org_id)s AND project = %(project)s AND deleting_at IS NULL

-- name: projects_of_orgs
SELECT org_id, project, name, repo_url, repo_ref, env_names, has_token, created_at, updated_at
FROM config.spider_projects WHERE org_id = ANY(%(org_ids)s) AND deleting_at IS NULL ORDER BY project, org_id

-- name: lock_project
SELECT org_id, project, name, repo_url, repo_ref, env_names, has_token, created_at, updated_at, sealed
FROM config.spider_projects
WHERE org_id = %(org_id)s AND project = %(project)s AND deleting_at IS NULL FOR NO KEY UPDATE

-- name: change_project
UPDATE config.spider_projects SET
    repo_url = %(repo_url)s, repo_ref = %(repo_ref)s, env_names = %(env_names)s, has_token = %(has_token)s,
    sealed = %(sealed)s, updated_at = clock_timestamp()
WHERE org_id = %(org_id)s AND project = %(project)s
RETURNING org_id, project, name, repo_url, repo_ref, env_names, has_token, created_at, updated_at

-- name: end_project
UPDATE config.spider_projects SET deleting_at = coalesce(deleting_at, clock_timestamp())
WHERE org_id = %(org_id)s AND project = %(project)s
RETURNING org_id, project, name, repo_url, repo_ref, env_names, has_token, created_at, updated_at

-- name: delete_project
DELETE FROM config.spider_projects WHERE org_id = %(org_id)s AND project = %(project)s

-- name: sealed_projects
SELECT org_id, project, sealed FROM config.spider_projects WHERE sealed IS NOT NULL ORDER BY org_id, project

-- name: reseal_project
UPDATE config.spider_projects SET sealed = %(resealed)s
WHERE org_id = %(org_id)s AND project = %(project)s AND sealed = %(sealed)s

-- name: newest_deploy
SELECT d.org_id, d.project, d.version, d.archive_ref, d.digest, d.archive_bytes, d.spiders, d.source, d.notes, d.created_at
FROM config.spider_deploys d JOIN config.spider_projects p USING (org_id, project)
WHERE d.org_id = %(org_id)s AND d.project = %(project)s AND p.deleting_at IS NULL
ORDER BY d.version DESC LIMIT 1

-- name: add_deploy
INSERT INTO config.spider_deploys
    (org_id, project, version, archive_ref, digest, archive_bytes, spiders, source, notes)
VALUES (%(org_id)s, %(project)s, %(version)s, %(archive_ref)s, %(digest)s, %(archive_bytes)s, %(spiders)s, %(source)s,
    %(notes)s)
RETURNING org_id, project, version, archive_ref, digest, archive_bytes, spiders, source, notes, created_at

-- name: hold_archive
-- Who removes archives holds it alone.
SELECT pg_advisory_xact_lock_shared(hashtextextended(%(ref)s, 19))

-- name: drop_deploys
DELETE FROM config.spider_deploys AS d
WHERE d.org_id = %(org_id)s AND d.project = %(project)s
    AND d.version IN (
        SELECT version FROM config.spider_deploys WHERE org_id = %(org_id)s AND project = %(project)s
        ORDER BY version DESC OFFSET %(most)s)
    AND NOT EXISTS (
        SELECT FROM config.schedules AS s
        WHERE s.org_id = d.org_id AND s.project = d.project AND s.work ->> 'deploy_version' = d.version::text)

-- name: deploy
SELECT d.org_id, d.project, d.version, d.archive_ref, d.digest, d.archive_bytes, d.spiders, d.source, d.notes, d.created_at
FROM config.spider_deploys d JOIN config.spider_projects p USING (org_id, project)
WHERE d.org_id = %(org_id)s AND d.project = %(project)s AND p.deleting_at IS NULL AND d.version = %(version)s

-- name: deploys_of_project
SELECT d.org_id, d.project, d.version, d.archive_ref, d.digest, d.archive_bytes, d.spiders, d.source, d.notes, d.created_at
FROM config.spider_deploys d JOIN config.spider_projects p USING (org_id, project)
WHERE d.org_id = %(org_id)s AND d.project = %(project)s AND p.deleting_at IS NULL
ORDER BY d.version DESC

-- name: enabled_destinations_of_project
SELECT destination_id, kind, gating, on_exhausted, gate_seconds, enabled, settings, sealed, fingerprint
FROM config.destinations WHERE org_id = %(org_id)s AND project = %(project)s AND enabled ORDER BY destination_id

-- name: schedule_of_number
SELECT s.org_id, s.schedule_id, s.version, s.name, s.cron, s.timezone, s.work, s.tags, s.missed, s.enabled, s.next_run_at,
    s.created_at, s.updated_at, s.project, s.number, s.sealed
FROM config.schedules s JOIN config.spider_projects p USING (org_id, project)
WHERE s.org_id = %(org_id)s AND s.number = %(number)s AND p.deleting_at IS NULL

-- name: schedules_of_projects
SELECT s.org_id, s.schedule_id, s.version, s.name, s.cron, s.timezone, s.work, s.tags, s.missed, s.enabled, s.next_run_at,
    s.created_at, s.updated_at, s.project, s.number, s.sealed
FROM config.schedules s JOIN config.spider_projects p USING (org_id, project)
WHERE s.org_id = ANY(%(org_ids)s) AND p.deleting_at IS NULL AND (%(project)s::text IS NULL OR s.project = %(project)s)
ORDER BY s.number

-- name: org_of_schedule
SELECT org_id FROM config.schedules WHERE number = %(number)s AND project IS NOT NULL

-- name: add_project_destination
INSERT INTO config.destinations (
    org_id, project, name, destination_id, kind, gating, on_exhausted, enabled, settings, sealed, fingerprint
)
VALUES (
    %(org_id)s, %(project)s, %(name)s, %(destination_id)s, %(kind)s, false, 'hold', %(enabled)s, %(settings)s,
    %(sealed)s, %(fingerprint)s
)
RETURNING number, org_id, project, name, destination_id, kind, enabled, settings, fingerprint

-- name: destinations_of_projects
SELECT d.number, d.org_id, d.project, d.name, d.destination_id, d.kind, d.enabled, d.settings, d.fingerprint
FROM config.destinations d JOIN config.spider_projects p USING (org_id, project)
WHERE d.org_id = ANY(%(org_ids)s) AND p.deleting_at IS NULL AND (%(project)s::text IS NULL OR d.project = %(project)s)
ORDER BY d.number

-- name: remove_project_destination
DELETE FROM config.destinations WHERE org_id = %(org_id)s AND number = %(number)s AND project IS NOT NULL
RETURNING number, org_id, project, name, destination_id, kind, enabled, settings, fingerprint

-- name: org_of_destination
SELECT org_id FROM config.destinations WHERE number = %(number)s AND project IS NOT NULL
