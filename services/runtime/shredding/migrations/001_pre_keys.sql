-- The keys under which the private bytes of jobs are sealed. Not derived from the log: without them it stays closed.

CREATE TABLE sealing.orgs (
    org_id     text COLLATE "C" PRIMARY KEY,
    erasure    boolean NOT NULL,                       -- whether new jobs are sealed; those that are stay so
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE sealing.org_keys (
    org_id     text COLLATE "C" NOT NULL,
    key_id     integer NOT NULL CHECK (key_id > 0),    -- the newest seals the keys of new jobs
    sealed     bytea NOT NULL,                         -- under JOBLEDGER_CREDENTIALS_KEY; names org and number inside
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (org_id, key_id)
);

CREATE TABLE sealing.job_keys (
    org_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    key_id integer NOT NULL,                           -- of the org key that it is sealed under
    sealed bytea NOT NULL,
    PRIMARY KEY (org_id, job_id)
);
