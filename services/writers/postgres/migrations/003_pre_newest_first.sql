-- Lists of extractions, newest first, of all domains or of one. Erased rows are on none.
CREATE INDEX results_newest_first ON stored_results (org_id, created_at DESC, job_id DESC) WHERE erased_at IS NULL;
CREATE INDEX results_of_domain ON stored_results (org_id, domain, created_at DESC, job_id DESC)
    WHERE erased_at IS NULL;
DROP INDEX extraction_results_by_domain;
