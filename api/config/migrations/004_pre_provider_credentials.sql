-- What orgs sign in with at providers. Sealed by the API, opened by workers; no answer, event or log shows it.

CREATE TABLE config.provider_credentials (
    org_id      text NOT NULL REFERENCES config.orgs,
    provider    text NOT NULL,
    label       text NOT NULL,
    sealed      bytea NOT NULL,                                          -- names org and provider inside too
    fingerprint text NOT NULL CHECK (fingerprint ~ '^[0-9a-f]{8}$'),
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, provider)
);
