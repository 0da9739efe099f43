-- Lists of spider jobs: of an org, of a project, and those of a state. Jobs of other kinds are in none of these.

CREATE INDEX spiders_newest_first ON jobs (org_id, submitted_at DESC, job_id DESC) WHERE vocabulary = 'spider';
CREATE INDEX spiders_of_project ON jobs (org_id, workflow_id, submitted_at DESC, job_id DESC)
    WHERE vocabulary = 'spider';
CREATE INDEX spiders_by_status ON jobs (org_id, status, submitted_at DESC, job_id DESC) WHERE vocabulary = 'spider';
