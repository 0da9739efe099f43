-- Since when an endpoint is disabled, and which version of it that was: a later one is not disabled for what came of it.
ALTER TABLE config.webhooks
    ADD COLUMN version     bigint NOT NULL DEFAULT 1,  -- the next one has another url, or was enabled again
    ADD COLUMN disabled_at timestamptz;                -- NULL: it is enabled, or nobody knows
