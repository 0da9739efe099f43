-- Planned items of module jobs: how far each job has come, its chunks of results and outcomes, and what it said.

ALTER TABLE jobs
    ADD COLUMN progress jsonb,  -- as the ledger keeps it: {chain_id, source_job_id, link, adopts, planned, next_item, ...}
    ADD COLUMN item_credits bigint NOT NULL DEFAULT 0,  -- that each planned item costs which succeeds
    ADD COLUMN chain_id text COLLATE "C";  -- the first job of its chain, once anything of its items is recorded
CREATE INDEX jobs_of_chain ON jobs (org_id, chain_id) WHERE chain_id IS NOT NULL;
CREATE INDEX modules_by_end ON jobs (org_id, finished_at, job_id)
    WHERE vocabulary = 'module' AND finished_at IS NOT NULL AND expired_at IS NULL;

-- Rows of a chain stay until the results of its last job were deleted or have expired: later links refer to them.
CREATE TABLE item_chunks (
    org_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL CHECK (chunk >= 0),
    chain_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    event_id uuid NOT NULL,
    partition integer NOT NULL,
    position bigint NOT NULL CHECK (position > 0),
    attempt bigint NOT NULL,
    occurred_at timestamptz NOT NULL,
    items_ref text NOT NULL,
    rows_bytes bigint NOT NULL,
    outcomes_bytes bigint NOT NULL,
    stats_bytes bigint NOT NULL,
    digest bytea NOT NULL,
    first_item bigint NOT NULL,
    next_item bigint NOT NULL,
    first_row bigint NOT NULL,
    rows bigint NOT NULL,
    errors bigint NOT NULL,
    resume_item bigint NOT NULL,
    errors_before bigint NOT NULL,
    PRIMARY KEY (org_id, job_id, chunk),
    CONSTRAINT chunk_is_of_some_items CHECK (next_item > first_item AND errors BETWEEN 0 AND next_item - first_item)
);
CREATE UNIQUE INDEX chunks_by_item ON item_chunks (org_id, job_id, first_item);
CREATE INDEX chunks_by_row ON item_chunks (org_id, job_id, first_row);
CREATE INDEX chunks_of_chain ON item_chunks (org_id, chain_id);

CREATE TABLE job_logs (
    org_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    number bigint NOT NULL CHECK (number >= 0),
    event_id uuid NOT NULL,
    partition integer NOT NULL,
    position bigint NOT NULL CHECK (position > 0),
    attempt bigint NOT NULL,
    occurred_at timestamptz NOT NULL,
    lines jsonb NOT NULL,  -- [{level, message, timestamp}]; null: they are sealed, and their key is gone
    PRIMARY KEY (org_id, job_id, position)  -- readers ask for what came behind a position
);
