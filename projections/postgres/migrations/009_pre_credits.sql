-- What the orgs have, had and spent: one row for each org, one for each event that moved its balance.

CREATE TABLE org_usage (
    org_id text COLLATE "C" PRIMARY KEY,
    partition integer NOT NULL,
    position bigint NOT NULL CHECK (position > 0),
    plan text NOT NULL,
    metered boolean NOT NULL,
    balance bigint NOT NULL CHECK (balance >= 0),
    granted bigint NOT NULL,
    debited bigint NOT NULL,
    surcharged bigint NOT NULL,
    refunded bigint NOT NULL,
    held bigint NOT NULL CHECK (held >= 0),
    jobs bigint NOT NULL,
    CONSTRAINT balance_is_what_moved_it CHECK (balance = granted - debited - surcharged + refunded - held)
);

CREATE TABLE credit_transactions (
    org_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL CHECK (position > 0),
    partition integer NOT NULL,
    event_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('grant', 'debit', 'surcharge', 'refund', 'hold', 'release')),
    credits bigint NOT NULL CHECK (credits <> 0),
    balance bigint NOT NULL CHECK (balance >= 0),
    job_id text COLLATE "C",
    occurred_at timestamptz NOT NULL,
    actor text NOT NULL,
    PRIMARY KEY (org_id, position)
);
-- A job is given back what it cost once.
CREATE UNIQUE INDEX one_refund_for_a_job ON credit_transactions (org_id, job_id) WHERE kind = 'refund';
