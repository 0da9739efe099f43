-- Fields of events that came with schedules.
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS how LowCardinality(String), ADD COLUMN IF NOT EXISTS code LowCardinality(String), ADD COLUMN IF NOT EXISTS due_times Int64 CODEC(ZSTD(1)), ADD COLUMN IF NOT EXISTS job_ids Array(String) CODEC(ZSTD(1));
ALTER TABLE job_events_probe ADD COLUMN IF NOT EXISTS how LowCardinality(String), ADD COLUMN IF NOT EXISTS code LowCardinality(String), ADD COLUMN IF NOT EXISTS due_times Int64, ADD COLUMN IF NOT EXISTS job_ids Array(String);
