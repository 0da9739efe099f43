-- Which published workflow takes the jobs of a host that name no workflow. Only routes of published versions are here.
CREATE TABLE config.workflow_routes (
    org_id      text NOT NULL REFERENCES config.orgs,
    route       text NOT NULL,                      -- `*`, or a host in lower-case ASCII, without a dot at its end
    workflow_id text NOT NULL,
    PRIMARY KEY (org_id, route)
);
CREATE INDEX routes_of_workflow ON config.workflow_routes (org_id, workflow_id);

-- The last version of a deleted workflow: a job names its version for life, so no number may come twice.
CREATE TABLE config.former_workflows (
    org_id       text NOT NULL REFERENCES config.orgs,
    workflow_id  text NOT NULL,
    last_version integer NOT NULL CHECK (last_version > 0),
    deleted_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (org_id, workflow_id)
);
