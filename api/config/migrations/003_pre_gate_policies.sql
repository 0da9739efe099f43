-- What becomes of a job that waits for a destination in vain, and how long it waits (0: as long as the ledger says).
ALTER TABLE config.destinations ADD COLUMN gate_seconds integer NOT NULL DEFAULT 0 CHECK (gate_seconds >= 0);
ALTER TABLE config.webhooks
    ADD COLUMN on_exhausted text NOT NULL DEFAULT 'hold' CHECK (on_exhausted IN ('hold', 'waive', 'fail')),
    ADD COLUMN gate_seconds integer NOT NULL DEFAULT 0 CHECK (gate_seconds >= 0);
