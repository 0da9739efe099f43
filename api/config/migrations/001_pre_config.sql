-- What people set up. Unlike the read models this is not derived from the log and must be backed up.

CREATE TABLE config.orgs (
    org_id        text PRIMARY KEY,
    name          text NOT NULL,
    partition     integer NOT NULL CHECK (partition >= 0),
    plan          text NOT NULL,
    max_in_flight integer NOT NULL CHECK (max_in_flight > 0),
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    registered_at timestamptz                       -- NULL: the ledger has not confirmed the registration yet
);

CREATE TABLE config.api_keys (
    key_id     text PRIMARY KEY,
    org_id     text NOT NULL REFERENCES config.orgs,
    name       text NOT NULL,
    digest     bytea NOT NULL CHECK (length(digest) = 32),   -- SHA-256 of the secret; the secret is not kept
    scopes     text[] NOT NULL CHECK (scopes <@ ARRAY['read', 'submit', 'admin'] AND cardinality(scopes) > 0),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz
);
CREATE INDEX api_keys_of_org ON config.api_keys (org_id, created_at);

CREATE TABLE config.workflows (
    org_id       text NOT NULL REFERENCES config.orgs,
    workflow_id  text NOT NULL,
    version      integer NOT NULL CHECK (version > 0),
    state        text NOT NULL CHECK (state IN ('draft', 'published')),
    document     jsonb NOT NULL,
    ref          text NOT NULL,                     -- blob key: what workers read; named by its content
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    published_at timestamptz,
    PRIMARY KEY (org_id, workflow_id, version),
    CHECK (state = 'draft' OR published_at IS NOT NULL)
);
CREATE UNIQUE INDEX one_published_version ON config.workflows (org_id, workflow_id) WHERE state = 'published';

-- A version is written once; only which one is published changes.
CREATE FUNCTION config.keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.document IS DISTINCT FROM OLD.document OR NEW.ref <> OLD.ref THEN
        RAISE EXCEPTION 'version % of workflow % is written once: save a new version', OLD.version, OLD.workflow_id;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER keep_version BEFORE UPDATE ON config.workflows FOR EACH ROW EXECUTE FUNCTION config.keep_version();

CREATE TABLE config.destinations (
    org_id         text NOT NULL REFERENCES config.orgs,
    destination_id text NOT NULL,
    kind           text NOT NULL,
    gating         boolean NOT NULL,
    on_exhausted   text NOT NULL CHECK (on_exhausted IN ('hold', 'waive', 'fail')),
    enabled        boolean NOT NULL DEFAULT true,
    settings       jsonb NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (org_id, destination_id)
);
