-- Spider jobs: lines that are in blobs, and the newest statistics of each run.

ALTER TABLE job_logs
    ADD COLUMN lines_ref text,  -- blob key of the lines; null: they are in the row
    ADD COLUMN lines_bytes bigint NOT NULL DEFAULT 0,
    ADD COLUMN levels bigint[] NOT NULL DEFAULT '{}';  -- lines of debug, info, warning, error, critical; empty: not counted

CREATE TABLE job_stats (
    org_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    number bigint NOT NULL CHECK (number >= 0),
    event_id uuid NOT NULL,
    partition integer NOT NULL,
    position bigint NOT NULL CHECK (position > 0),
    attempt bigint NOT NULL,
    occurred_at timestamptz NOT NULL,
    scraped bigint NOT NULL CHECK (scraped >= 0),  -- items, those included that no chunk holds yet
    final boolean NOT NULL,
    routed bigint NOT NULL CHECK (routed >= 0),  -- requests that went through the unblocker
    stats jsonb NOT NULL,  -- an object
    PRIMARY KEY (org_id, job_id)
);
