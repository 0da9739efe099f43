-- The read model of the ledger: a fold of its events, disposable and rebuilt at will.
-- Only what the decider guarantees is a constraint here; anything else a caller or a worker says fits its column.

CREATE TABLE jobs (
    org_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    partition integer NOT NULL,
    status text NOT NULL,
    seq bigint NOT NULL,
    position bigint NOT NULL,
    cause bigint NOT NULL,
    vocabulary text NOT NULL,
    workflow_id text NOT NULL,
    workflow_version bigint NOT NULL,
    workflow_ref text NOT NULL,
    domain text NOT NULL,
    priority bigint NOT NULL,
    max_run_seconds bigint NOT NULL,
    destinations jsonb NOT NULL,
    schedule_id text,
    correlation_id text NOT NULL,
    private bytea NOT NULL,
    url text,
    input jsonb,
    metadata jsonb,
    attempt bigint NOT NULL,
    dispatches bigint NOT NULL,
    worker_id text,
    retry_at timestamptz,
    submitted_at timestamptz NOT NULL,
    claimed_at timestamptz,
    extracted_at timestamptz,
    finished_at timestamptz,
    finished_seq bigint,
    result_ref text,
    content_type text,
    result_bytes bigint,
    extraction_ref text,
    schema_id text,
    data_type text,
    items bigint,
    quality_completeness double precision,
    quality_validation double precision,
    quality_composite double precision,
    latency_ms bigint,
    error_type text,
    rule text,
    node_id text,
    error_message text,
    opened_by uuid[],
    PRIMARY KEY (org_id, job_id),
    CONSTRAINT status_is_known CHECK (status IN (
        'pending', 'running', 'waiting_retry', 'extraction_done',
        'completed', 'failed', 'cancelled', 'timed_out', 'lost')),
    CONSTRAINT ordinals_are_positive CHECK (seq > 0 AND position > 0 AND partition >= 0 AND attempt >= 0),
    CONSTRAINT terminal_means_finished CHECK (
        (status IN ('completed', 'failed', 'cancelled', 'timed_out', 'lost')) = (finished_at IS NOT NULL)),
    CONSTRAINT finished_at_an_event CHECK ((finished_at IS NULL) = (finished_seq IS NULL) AND finished_seq <= seq),
    CONSTRAINT running_has_a_worker CHECK ((status = 'running') = (worker_id IS NOT NULL)),
    CONSTRAINT waiting_has_a_date CHECK ((status = 'waiting_retry') = (retry_at IS NOT NULL)),
    CONSTRAINT claimed_has_an_attempt CHECK ((claimed_at IS NOT NULL) = (attempt > 0)),
    CONSTRAINT run_was_claimed CHECK (
        claimed_at IS NOT NULL OR status NOT IN ('running', 'waiting_retry', 'extraction_done', 'completed')),
    CONSTRAINT extraction_is_whole CHECK (
        (extracted_at IS NOT NULL) = (result_ref IS NOT NULL)
        AND (extracted_at IS NOT NULL OR status NOT IN ('extraction_done', 'completed'))
        AND (extracted_at IS NULL OR status NOT IN ('pending', 'running', 'waiting_retry'))),
    CONSTRAINT completed_names_its_acks CHECK ((status = 'completed') = (opened_by IS NOT NULL)),
    CONSTRAINT failed_names_its_error CHECK ((status = 'failed') = (error_type IS NOT NULL)),
    CONSTRAINT times_are_in_order CHECK (
        claimed_at >= submitted_at AND extracted_at >= claimed_at AND finished_at >= submitted_at)
);
CREATE INDEX jobs_newest_first ON jobs (org_id, submitted_at DESC, job_id DESC);
CREATE INDEX jobs_by_status_newest_first ON jobs (org_id, status, submitted_at DESC, job_id DESC);

CREATE TABLE job_transitions (
    org_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    status text NOT NULL,
    attempt bigint NOT NULL,
    occurred_at timestamptz NOT NULL,
    partition integer NOT NULL,
    position bigint NOT NULL CHECK (position > 0),
    actor text NOT NULL,
    PRIMARY KEY (org_id, job_id, seq)
);

CREATE TABLE job_trace (
    org_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    event_id uuid NOT NULL,
    partition integer NOT NULL,
    attempt bigint NOT NULL,
    step bigint NOT NULL,
    node_id text NOT NULL,
    node_kind text NOT NULL,
    provider text NOT NULL,
    try_number bigint NOT NULL,
    outcome text NOT NULL,
    status_code bigint NOT NULL,
    latency_ms bigint NOT NULL,
    error_type text,
    rule text,
    edge text,
    next_node_id text,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    message text,
    final_url text,
    body_ref text,
    content_type text,
    body_bytes bigint NOT NULL,
    PRIMARY KEY (org_id, job_id, seq)
);

CREATE TABLE extraction_deliveries (
    org_id text COLLATE "C" NOT NULL,
    job_id text COLLATE "C" NOT NULL,
    destination_id text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    partition integer NOT NULL,
    kind text NOT NULL,
    status text NOT NULL CHECK (status IN ('requested', 'waiting', 'acked', 'dead_lettered')),
    tries bigint NOT NULL,
    requested_at timestamptz NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    position bigint NOT NULL CHECK (position > 0),
    acked_at timestamptz,
    ack_event_id uuid,
    ack_seq bigint,
    rows bigint,
    writer_id text,
    error_type text,
    error_message text,
    next_try_at timestamptz,
    PRIMARY KEY (org_id, job_id, destination_id, generation),
    CONSTRAINT acked_is_whole CHECK (
        num_nonnulls(acked_at, ack_event_id, ack_seq, rows) = CASE WHEN status = 'acked' THEN 4 ELSE 0 END),
    CONSTRAINT dead_lettered_names_its_error CHECK (status <> 'dead_lettered' OR error_type IS NOT NULL),
    CONSTRAINT only_waiting_is_dated CHECK (next_try_at IS NULL OR status = 'waiting')
);

CREATE TABLE checkpoints (
    partition integer PRIMARY KEY CHECK (partition >= 0),
    position bigint NOT NULL CHECK (position >= 0),
    next_offset bigint NOT NULL CHECK (next_offset >= 0),
    occurred_at timestamptz NOT NULL,
    cause bigint NOT NULL
);
