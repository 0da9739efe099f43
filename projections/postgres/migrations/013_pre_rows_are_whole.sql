-- What the decider guarantees of the other tables too. NOT VALID: holds for every row from now on, and does not read those
-- that are there; a rebuilt version has no others.

ALTER TABLE job_transitions
    ADD CONSTRAINT transition_status_is_known CHECK (status IN (
        'pending', 'running', 'waiting_retry', 'extraction_done',
        'completed', 'failed', 'cancelled', 'timed_out', 'lost')) NOT VALID,
    ADD CONSTRAINT transition_ordinals_are_positive CHECK (partition >= 0 AND attempt >= 0) NOT VALID,
    ADD CONSTRAINT transition_is_of_a_type CHECK (event_type <> '') NOT VALID;

ALTER TABLE job_trace
    ADD CONSTRAINT visit_is_of_an_attempt CHECK (partition >= 0 AND attempt > 0) NOT VALID;

ALTER TABLE extraction_deliveries
    ADD CONSTRAINT delivery_ordinals_are_positive CHECK (partition >= 0 AND generation > 0 AND tries >= 0) NOT VALID,
    ADD CONSTRAINT ack_is_an_event_of_the_job CHECK (ack_seq <= seq AND waive_seq <= seq) NOT VALID,
    ADD CONSTRAINT acked_after_it_was_requested CHECK (acked_at >= requested_at) NOT VALID;

ALTER TABLE deleted_jobs
    ADD CONSTRAINT deleted_ordinals_are_positive CHECK (partition >= 0 AND attempt >= 0 AND erasures >= 0) NOT VALID;

ALTER TABLE schedule_fires ADD CONSTRAINT fire_is_of_a_partition CHECK (partition >= 0) NOT VALID;

ALTER TABLE credit_transactions
    ADD CONSTRAINT transaction_is_of_a_partition CHECK (partition >= 0) NOT VALID,
    ADD CONSTRAINT kind_has_its_sign CHECK (
        kind NOT IN ('debit', 'surcharge', 'hold') OR credits < 0) NOT VALID,
    ADD CONSTRAINT what_is_given_back_is_positive CHECK (kind NOT IN ('refund', 'release') OR credits > 0) NOT VALID;
