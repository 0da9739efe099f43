-- Results past retention: since when those of a job go, and which deliveries asked a store to forget it.

ALTER TABLE jobs
    ADD COLUMN expired_at timestamptz,
    ADD CONSTRAINT only_what_ended_expires CHECK (expired_at >= finished_at);

ALTER TABLE extraction_deliveries ADD COLUMN erase boolean NOT NULL DEFAULT false;

-- What may be past retention, the longest ended first: it shrinks again as results are purged.
CREATE INDEX jobs_with_results ON jobs (org_id, finished_at, job_id)
    WHERE finished_at IS NOT NULL AND expired_at IS NULL;
