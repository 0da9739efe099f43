-- What the decider has to know of a job that has left its memory, and what stays of a deleted one: that it was there.

ALTER TABLE jobs ADD COLUMN boot_id text, ADD COLUMN ended_for text;

CREATE TABLE deleted_jobs (
    org_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    partition integer NOT NULL,
    status text NOT NULL CHECK (status IN ('completed', 'failed', 'cancelled', 'timed_out', 'lost')),
    seq bigint NOT NULL CHECK (seq > 0),
    position bigint NOT NULL CHECK (position > 0),
    attempt bigint NOT NULL,
    boot_id text,
    erasures bigint NOT NULL,
    deleted_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, job_id)
);
