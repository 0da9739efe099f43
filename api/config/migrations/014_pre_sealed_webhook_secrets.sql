-- Secrets are sealed from now on; `secret` is of rows that nobody has sealed yet.
ALTER TABLE config.webhook_secrets
    ALTER COLUMN secret DROP NOT NULL,
    ADD COLUMN sealed bytea,                                             -- names org and endpoint inside too
    ADD CONSTRAINT secret_is_kept_once CHECK (num_nonnulls(secret, sealed) = 1);
