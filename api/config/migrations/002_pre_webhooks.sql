-- Webhook endpoints, and the secrets that sign what is sent to them. No answer, event or log ever shows a secret again.

CREATE TABLE config.webhooks (
    org_id          text NOT NULL REFERENCES config.orgs,
    webhook_id      text NOT NULL,
    url             text NOT NULL,
    event_types     text[] NOT NULL CHECK (event_types <@ ARRAY['job.completed', 'job.failed']),
    gating          boolean NOT NULL,
    enabled         boolean NOT NULL,
    disabled_reason text,                                   -- why the writer disabled it; NULL: it did not
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (org_id, webhook_id),
    CHECK (NOT enabled OR disabled_reason IS NULL)
);

CREATE TABLE config.webhook_secrets (
    secret_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id     text NOT NULL,
    webhook_id text NOT NULL,
    secret     text NOT NULL CHECK (secret LIKE 'whsec\_%'),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,                                 -- NULL: the current one
    FOREIGN KEY (org_id, webhook_id) REFERENCES config.webhooks ON DELETE CASCADE
);
CREATE UNIQUE INDEX one_current_secret ON config.webhook_secrets (org_id, webhook_id) WHERE expires_at IS NULL;
