-- Schedules: what is submitted when. `work` is the body of a submission, with urls and input: the customer's data.
CREATE TABLE config.schedules (
    org_id      text NOT NULL REFERENCES config.orgs,
    schedule_id text COLLATE "C" NOT NULL,
    version     integer NOT NULL CHECK (version > 0),      -- of what people set; a fire makes no version
    name        text NOT NULL,
    cron        text NOT NULL,
    timezone    text NOT NULL,
    work        jsonb NOT NULL,
    tags        text[] NOT NULL,
    missed      text NOT NULL CHECK (missed IN ('skip', 'once', 'all')),
    enabled     boolean NOT NULL,
    next_run_at timestamptz,                               -- the first due time that is not recorded in the ledger yet
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (org_id, schedule_id),
    CONSTRAINT enabled_has_a_date CHECK (enabled = (next_run_at IS NOT NULL))
);
CREATE INDEX schedules_newest_first ON config.schedules (org_id, created_at DESC, schedule_id DESC);
CREATE INDEX schedules_due ON config.schedules (next_run_at) WHERE enabled;
