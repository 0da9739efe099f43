-- The fires of schedules: what each due time, or a trigger, led to. What a schedule is stands in the schema `config`.

CREATE TABLE schedule_fires (
    org_id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    schedule_id text COLLATE "C" NOT NULL,
    event_id uuid NOT NULL,
    partition integer NOT NULL,
    position bigint NOT NULL CHECK (position > 0),
    due_at timestamptz NOT NULL,
    how text NOT NULL CHECK (how IN ('cron', 'trigger', 'missed')),
    outcome text NOT NULL CHECK (outcome IN ('submitted', 'refused', 'skipped')),
    code text,
    due_times bigint NOT NULL CHECK (due_times > 0),
    job_ids text[] NOT NULL,
    fired_at timestamptz NOT NULL,
    actor text NOT NULL,
    PRIMARY KEY (org_id, seq),
    CONSTRAINT only_a_refusal_has_a_code CHECK ((outcome = 'refused') = (code IS NOT NULL)),
    CONSTRAINT only_a_submission_has_jobs CHECK ((outcome = 'submitted') = (cardinality(job_ids) > 0))
);
CREATE INDEX fires_of_a_schedule ON schedule_fires (org_id, schedule_id, seq DESC);
-- A due time is fired once: triggers have none.
CREATE UNIQUE INDEX one_fire_for_a_due_time ON schedule_fires (org_id, schedule_id, due_at) WHERE how <> 'trigger';
