-- A fire of a later version: what is not known yet is read as `unknown`, and must not stop the projection. How it was
-- fired decides whether its due time is one of the schedule's, so of an unknown one nobody can say.

ALTER TABLE schedule_fires
    DROP CONSTRAINT schedule_fires_how_check,
    DROP CONSTRAINT schedule_fires_outcome_check,
    DROP CONSTRAINT only_a_refusal_has_a_code,
    DROP CONSTRAINT only_a_submission_has_jobs,
    ADD CONSTRAINT how_is_known CHECK (how IN ('unknown', 'cron', 'trigger', 'missed')),
    ADD CONSTRAINT outcome_is_known CHECK (outcome IN ('unknown', 'submitted', 'refused', 'skipped')),
    ADD CONSTRAINT only_a_refusal_has_a_code CHECK (outcome = 'unknown' OR (outcome = 'refused') = (code IS NOT NULL)),
    ADD CONSTRAINT only_a_submission_has_jobs
        CHECK (outcome = 'unknown' OR (outcome = 'submitted') = (cardinality(job_ids) > 0));
DROP INDEX one_fire_for_a_due_time;
CREATE UNIQUE INDEX one_fire_for_a_due_time ON schedule_fires (org_id, schedule_id, due_at)
    WHERE how IN ('cron', 'missed');
