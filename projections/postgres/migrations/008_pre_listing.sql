-- Lists of jobs narrowed by one thing or another, in the order of time; partial where most jobs have nothing there.

CREATE INDEX jobs_of_workflow ON jobs (org_id, workflow_id, submitted_at DESC, job_id DESC);
CREATE INDEX jobs_of_domain ON jobs (org_id, domain, submitted_at DESC, job_id DESC);
CREATE INDEX jobs_of_schedule ON jobs (org_id, schedule_id, submitted_at DESC, job_id DESC)
    WHERE schedule_id IS NOT NULL;
CREATE INDEX jobs_by_error ON jobs (org_id, error_type, submitted_at DESC, job_id DESC)
    WHERE error_type IS NOT NULL;

-- By its digest: a url may be longer than what an index takes. Only of jobs with an extraction, which is what is asked.
CREATE INDEX jobs_of_url ON jobs (org_id, hashtextextended(url, 0)) WHERE extracted_at IS NOT NULL;
