-- What the writer reads of the configuration; the table belongs to the API.

-- name: endpoint
SELECT url, enabled, version, ARRAY(
    SELECT coalesce(s.sealed, convert_to(s.secret, 'UTF8')) FROM config.webhook_secrets AS s
    WHERE s.org_id = w.org_id AND s.webhook_id = w.webhook_id AND coalesce(s.expires_at > clock_timestamp(), true)
    ORDER BY s.secret_id DESC
) AS secrets
FROM config.webhooks AS w WHERE w.org_id = %(org_id)s AND w.webhook_id = %(webhook_id)s
