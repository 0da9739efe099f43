-- Fields of events of planned items; those of JobContinued that are lists of records have no column.
ALTER TABLE job_events
    ADD COLUMN IF NOT EXISTS item_credits Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS plan_ref String CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS planned Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS plan_bytes Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS chunk Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS items_ref String CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS rows_bytes Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS outcomes_bytes Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS stats_bytes Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS digest String CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS first_item Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS next_item Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS first_row Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS errors Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS resume_item Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS errors_before Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS number Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS lines Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS source_job_id String CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS chain_id String CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS link Int64 CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS newest_ref String CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS newest_stats_bytes Int64 CODEC(ZSTD(1));
ALTER TABLE job_events_probe
    ADD COLUMN IF NOT EXISTS item_credits Int64,
    ADD COLUMN IF NOT EXISTS plan_ref String,
    ADD COLUMN IF NOT EXISTS planned Int64,
    ADD COLUMN IF NOT EXISTS plan_bytes Int64,
    ADD COLUMN IF NOT EXISTS chunk Int64,
    ADD COLUMN IF NOT EXISTS items_ref String,
    ADD COLUMN IF NOT EXISTS rows_bytes Int64,
    ADD COLUMN IF NOT EXISTS outcomes_bytes Int64,
    ADD COLUMN IF NOT EXISTS stats_bytes Int64,
    ADD COLUMN IF NOT EXISTS digest String,
    ADD COLUMN IF NOT EXISTS first_item Int64,
    ADD COLUMN IF NOT EXISTS next_item Int64,
    ADD COLUMN IF NOT EXISTS first_row Int64,
    ADD COLUMN IF NOT EXISTS errors Int64,
    ADD COLUMN IF NOT EXISTS resume_item Int64,
    ADD COLUMN IF NOT EXISTS errors_before Int64,
    ADD COLUMN IF NOT EXISTS number Int64,
    ADD COLUMN IF NOT EXISTS lines Int64,
    ADD COLUMN IF NOT EXISTS source_job_id String,
    ADD COLUMN IF NOT EXISTS chain_id String,
    ADD COLUMN IF NOT EXISTS link Int64,
    ADD COLUMN IF NOT EXISTS newest_ref String,
    ADD COLUMN IF NOT EXISTS newest_stats_bytes Int64;

-- What items cost moves balances as surcharges do. Nothing was inserted of them before this view knew them. The view is
-- changed where it stands: what another process inserts while there is none would be missing for ever.
ALTER TABLE credit_moves_of_events MODIFY QUERY
SELECT
    e.org_id AS org_id,
    e.partition AS partition,
    e.position AS position,
    e.occurred_at AS occurred_at,
    transform(toString(e.event_type),
        ['JobSubmitted', 'NodeFinished', 'ItemsRecorded', 'JobFailed', 'JobCancelled', 'OrgRegistered',
            'CreditsGranted', 'CreditsHeld', 'CreditsReleased'],
        ['debit', 'surcharge', 'surcharge', 'refund', 'refund', 'grant', 'grant', 'hold', 'release'], '') AS kind,
    -- each event has one of these, the others are 0
    multiIf(kind IN ('debit', 'hold'), -e.credits, kind = 'surcharge', -e.surcharge, kind = 'refund', e.refund,
        e.credits) AS credits
FROM job_events AS e
WHERE (e.credits != 0 OR e.surcharge != 0 OR e.refund != 0) AND kind != '' AND credits != 0;
