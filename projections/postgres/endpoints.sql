-- What the projection changes of the configuration; the table belongs to the API.

-- name: configured
SELECT to_regclass('config.webhooks')

-- name: disable
UPDATE config.webhooks SET
    enabled = false, disabled_reason = %(reason)s, disabled_at = %(at)s, updated_at = clock_timestamp()
WHERE org_id = %(org_id)s AND webhook_id = %(webhook_id)s AND enabled AND version = %(version)s
