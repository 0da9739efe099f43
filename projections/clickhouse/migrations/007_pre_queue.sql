-- Limits of the queue of an org, and how long a job may wait for its first claim.
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS max_pending Int64 CODEC(ZSTD(1));
ALTER TABLE job_events ADD COLUMN IF NOT EXISTS max_queue_seconds Int64 CODEC(ZSTD(1));
ALTER TABLE job_events_probe ADD COLUMN IF NOT EXISTS max_pending Int64 CODEC(ZSTD(1));
ALTER TABLE job_events_probe ADD COLUMN IF NOT EXISTS max_queue_seconds Int64 CODEC(ZSTD(1));
