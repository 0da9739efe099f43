-- For how long the results of an org are kept after the end of a job.
ALTER TABLE config.orgs
    ADD COLUMN retention_seconds bigint NOT NULL DEFAULT 0 CHECK (retention_seconds >= 0);  -- 0: as the setting says
