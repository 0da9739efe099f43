-- What workers read of the configuration; the table belongs to the API.

-- name: credential
SELECT sealed FROM config.provider_credentials WHERE org_id = %(org_id)s AND provider = %(provider)s

-- name: project
SELECT sealed FROM config.spider_projects WHERE org_id = %(org_id)s AND project = %(project)s
