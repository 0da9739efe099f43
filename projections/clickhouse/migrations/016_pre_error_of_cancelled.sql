-- What a job ended of, as the API says it: a cancelled one has no error of its own, and its class is `cancelled`.
CREATE OR REPLACE VIEW job_status AS
SELECT
    org_id,
    job_id,
    max(s.partition) AS partition,
    max(s.seq) AS seq,
    argMaxMerge(s.status) AS status,
    max(s.attempt) AS attempt,
    max(s.workflow_id) AS workflow_id,
    max(s.domain) AS domain,
    if(argMaxMerge(s.status) = 'cancelled', 'cancelled', max(s.error_type)) AS error_type,
    max(s.rule) AS rule,
    min(s.submitted_at) AS submitted_at,
    min(s.claimed_at) AS claimed_at,
    min(s.extracted_at) AS extracted_at,
    min(s.finished_at) AS finished_at
FROM job_states AS s
WHERE (org_id, job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs)
GROUP BY org_id, job_id;
