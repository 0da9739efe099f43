-- What a replay asked the ledger for: repeated with its Idempotency-Key, it asks for the same generations, which exist.
CREATE TABLE config.webhook_replays (
    org_id      text NOT NULL,
    webhook_id  text NOT NULL,
    key_digest  bytea NOT NULL,
    body_digest bytea NOT NULL,
    plan        jsonb NOT NULL,                             -- [[job, destination, generation], ...]
    next_cursor text,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (org_id, webhook_id, key_digest),
    FOREIGN KEY (org_id, webhook_id) REFERENCES config.webhooks ON DELETE CASCADE
);
CREATE INDEX replays_by_time ON config.webhook_replays (created_at);
