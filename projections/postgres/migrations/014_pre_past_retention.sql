-- Whether results of an org, or of one domain of it, are past retention: without reading its other jobs. It costs a job
-- nothing until its results expire.

CREATE INDEX jobs_past_retention ON jobs (org_id, domain) WHERE expired_at IS NOT NULL AND extracted_at IS NOT NULL;
