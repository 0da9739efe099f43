-- Which events there were, by org, hour and stage: positions of the log as a set. A row that came twice, whenever and
-- however, changes nothing; and it stays when the event is taken out of job_events. Stage '': no stage of a job.
CREATE TABLE IF NOT EXISTS stage_positions (
    org_id LowCardinality(String),
    hour DateTime('UTC'),
    stage LowCardinality(String),
    partition Int32,
    positions AggregateFunction(groupBitmap, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (org_id, hour, stage, partition)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS stage_positions_of_events TO stage_positions AS
SELECT
    org_id,
    toStartOfHour(toDateTime(e.occurred_at, 'UTC')) AS hour,
    transform(toString(e.event_type),
        ['JobSubmitted', 'JobDispatched', 'JobClaimed', 'RetryScheduled', 'JobExtracted', 'JobCompleted', 'JobFailed',
            'JobCancelled'],
        ['submitted', 'dispatched', 'claimed', 'retried', 'extracted', 'completed', 'failed', 'cancelled'],
        '') AS stage,
    e.partition AS partition,
    groupBitmapState(toUInt64(e.position)) AS positions
FROM job_events AS e
GROUP BY org_id, hour, stage, partition;

-- What was there before; what had been deleted or forgotten is only in the log, and comes with a rebuild.
INSERT INTO stage_positions
SELECT
    org_id,
    toStartOfHour(toDateTime(e.occurred_at, 'UTC')) AS hour,
    transform(toString(e.event_type),
        ['JobSubmitted', 'JobDispatched', 'JobClaimed', 'RetryScheduled', 'JobExtracted', 'JobCompleted', 'JobFailed',
            'JobCancelled'],
        ['submitted', 'dispatched', 'claimed', 'retried', 'extracted', 'completed', 'failed', 'cancelled'],
        '') AS stage,
    e.partition AS partition,
    groupBitmapState(toUInt64(e.position)) AS positions
FROM job_events AS e
GROUP BY org_id, hour, stage, partition
SETTINGS max_partitions_per_insert_block = 0;

CREATE OR REPLACE VIEW funnel_hourly AS
SELECT
    org_id,
    hour,
    sumIf(c.events, c.stage = 'submitted') AS submitted,
    sumIf(c.events, c.stage = 'dispatched') AS dispatched,
    sumIf(c.events, c.stage = 'claimed') AS claimed,
    sumIf(c.events, c.stage = 'retried') AS retried,
    sumIf(c.events, c.stage = 'extracted') AS extracted,
    sumIf(c.events, c.stage = 'completed') AS completed,
    sumIf(c.events, c.stage = 'failed') AS failed,
    sumIf(c.events, c.stage = 'cancelled') AS cancelled
FROM (
    SELECT org_id, hour, stage, partition, groupBitmapMerge(p.positions) AS events
    FROM stage_positions AS p
    WHERE p.stage != ''
    GROUP BY org_id, hour, stage, partition
) AS c
GROUP BY org_id, hour;

-- Sums that counted an event as often as it was inserted.
DROP VIEW IF EXISTS stage_counts_of_events;
DROP TABLE IF EXISTS stage_counts;
