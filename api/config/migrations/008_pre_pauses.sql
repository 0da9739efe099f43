-- Limits and pauses, for show: the ledger decides by its own events.
ALTER TABLE config.orgs
    ADD COLUMN max_pending       integer NOT NULL DEFAULT 0 CHECK (max_pending >= 0),        -- 0: as the setting says
    ADD COLUMN max_queue_seconds integer NOT NULL DEFAULT 0 CHECK (max_queue_seconds >= 0),  -- 0: as the setting says
    ADD COLUMN paused_at         timestamptz;                                                -- NULL: it is not paused

CREATE TABLE config.paused_workflows (
    org_id      text NOT NULL REFERENCES config.orgs,
    workflow_id text NOT NULL,
    paused_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (org_id, workflow_id)
);
