-- What came of each call to an endpoint, for its owner to look at. Nothing else depends on it: a row may be missing.

CREATE TABLE webhooks.attempts (
    attempt_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id         text NOT NULL,
    webhook_id     text NOT NULL,
    job_id         text NOT NULL,
    destination_id text NOT NULL,                           -- the endpoint, and of a notice its event type
    message_id     text NOT NULL,                           -- as the receiver got it: one for all tries
    generation     bigint NOT NULL,
    try_number     bigint NOT NULL,
    attempted_at   timestamptz NOT NULL,
    latency_ms     bigint NOT NULL CHECK (latency_ms >= 0),
    status         integer NOT NULL,                        -- 0: no answer came
    error_type     text NOT NULL,                           -- empty: the receiver has the message
    answer         text NOT NULL                            -- its beginning, as text
);
CREATE INDEX attempts_of_endpoint ON webhooks.attempts (org_id, webhook_id, attempt_id DESC);
CREATE INDEX attempts_of_job ON webhooks.attempts (org_id, job_id, attempt_id DESC);
CREATE INDEX attempts_by_time ON webhooks.attempts (attempted_at);

-- Endpoints that are called less than usual, and until when they are not called at all.
CREATE TABLE webhooks.throttles (
    org_id     text NOT NULL,
    webhook_id text NOT NULL,
    until      timestamptz NOT NULL,
    PRIMARY KEY (org_id, webhook_id)
);
