-- What moved the balance of an org: no row says which job, so that the rows stay when a job is deleted and the sums go on
-- to be what the log says. A row that came twice is one: read with FINAL.
CREATE TABLE IF NOT EXISTS credit_moves (
    org_id LowCardinality(String),
    partition Int32 CODEC(ZSTD(1)),
    position Int64 CODEC(Delta, ZSTD(1)),
    occurred_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    kind LowCardinality(String),
    credits Int64 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (org_id, partition, position)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS credit_moves_of_events TO credit_moves AS
SELECT
    e.org_id AS org_id,
    e.partition AS partition,
    e.position AS position,
    e.occurred_at AS occurred_at,
    transform(toString(e.event_type),
        ['JobSubmitted', 'NodeFinished', 'JobFailed', 'JobCancelled', 'OrgRegistered', 'CreditsGranted', 'CreditsHeld',
            'CreditsReleased'],
        ['debit', 'surcharge', 'refund', 'refund', 'grant', 'grant', 'hold', 'release'], '') AS kind,
    -- each event has one of these, the others are 0
    multiIf(kind IN ('debit', 'hold'), -e.credits, kind = 'surcharge', -e.surcharge, kind = 'refund', e.refund,
        e.credits) AS credits
FROM job_events AS e
WHERE (e.credits != 0 OR e.surcharge != 0 OR e.refund != 0) AND kind != '' AND credits != 0;

-- What was there before; what had been deleted is only in the log, and comes with a rebuild.
INSERT INTO credit_moves
SELECT
    e.org_id AS org_id,
    e.partition AS partition,
    e.position AS position,
    e.occurred_at AS occurred_at,
    transform(toString(e.event_type),
        ['JobSubmitted', 'NodeFinished', 'JobFailed', 'JobCancelled', 'OrgRegistered', 'CreditsGranted', 'CreditsHeld',
            'CreditsReleased'],
        ['debit', 'surcharge', 'refund', 'refund', 'grant', 'grant', 'hold', 'release'], '') AS kind,
    multiIf(kind IN ('debit', 'hold'), -e.credits, kind = 'surcharge', -e.surcharge, kind = 'refund', e.refund,
        e.credits) AS credits
FROM job_events AS e
WHERE (e.credits != 0 OR e.surcharge != 0 OR e.refund != 0) AND kind != '' AND credits != 0;

CREATE OR REPLACE VIEW credits_hourly AS
SELECT
    org_id,
    toStartOfHour(toDateTime(m.occurred_at, 'UTC')) AS hour,
    sumIf(m.credits, m.kind = 'grant') AS granted,
    -sumIf(m.credits, m.kind = 'debit') AS debited,
    -sumIf(m.credits, m.kind = 'surcharge') AS surcharged,
    sumIf(m.credits, m.kind = 'refund') AS refunded,
    -sumIf(m.credits, m.kind IN ('hold', 'release')) AS held,
    sum(m.credits) AS moved
FROM credit_moves AS m FINAL
GROUP BY org_id, hour;

CREATE OR REPLACE VIEW org_balances AS
SELECT
    org_id,
    sum(m.credits) AS balance,
    sumIf(m.credits, m.kind = 'grant') AS granted,
    -sumIf(m.credits, m.kind = 'debit') AS debited,
    -sumIf(m.credits, m.kind = 'surcharge') AS surcharged,
    sumIf(m.credits, m.kind = 'refund') AS refunded,
    -sumIf(m.credits, m.kind IN ('hold', 'release')) AS held
FROM credit_moves AS m FINAL
GROUP BY org_id;
