-- Fields of events of spider jobs. Lines and statistics themselves are in `private` or in blobs.
ALTER TABLE job_events
    ADD COLUMN IF NOT EXISTS lines_ref String CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS lines_bytes Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS levels Array(Int64) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS scraped Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS final Bool CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS routed Int64 CODEC(ZSTD(1));
ALTER TABLE job_events_probe
    ADD COLUMN IF NOT EXISTS lines_ref String,
    ADD COLUMN IF NOT EXISTS lines_bytes Int64,
    ADD COLUMN IF NOT EXISTS levels Array(Int64),
    ADD COLUMN IF NOT EXISTS scraped Int64,
    ADD COLUMN IF NOT EXISTS final Bool,
    ADD COLUMN IF NOT EXISTS routed Int64;

-- What requests through the unblocker cost moves balances as surcharges do. Nothing was inserted of them before this
-- view knew them. The view is changed where it stands: what another process inserts while there is none would be
-- missing for ever.
ALTER TABLE credit_moves_of_events MODIFY QUERY
SELECT
    e.org_id AS org_id,
    e.partition AS partition,
    e.position AS position,
    e.occurred_at AS occurred_at,
    transform(toString(e.event_type),
        ['JobSubmitted', 'NodeFinished', 'ItemsRecorded', 'StatsRecorded', 'JobFailed', 'JobCancelled', 'OrgRegistered',
            'CreditsGranted', 'CreditsHeld', 'CreditsReleased'],
        ['debit', 'surcharge', 'surcharge', 'surcharge', 'refund', 'refund', 'grant', 'grant', 'hold', 'release'], '')
        AS kind,
    -- each event has one of these, the others are 0
    multiIf(kind IN ('debit', 'hold'), -e.credits, kind = 'surcharge', -e.surcharge, kind = 'refund', e.refund,
        e.credits) AS credits
FROM job_events AS e
WHERE (e.credits != 0 OR e.surcharge != 0 OR e.refund != 0) AND kind != '' AND credits != 0;
