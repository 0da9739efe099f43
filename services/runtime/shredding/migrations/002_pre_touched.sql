-- When a key was last asked for by who was about to submit its job: what nobody came back for is a leftover some day.
ALTER TABLE sealing.job_keys ADD COLUMN touched_at timestamptz NOT NULL DEFAULT clock_timestamp();
CREATE INDEX job_keys_by_age ON sealing.job_keys (touched_at, org_id, job_id);
