-- What the writer reads of the configuration; the table belongs to the API.

-- name: destination
SELECT kind, enabled, settings, sealed, version FROM config.destinations
WHERE org_id = %(org_id)s AND destination_id = %(destination_id)s
