-- Statements of a customer's ClickHouse, where {table} is the name of the view that people read.

-- name: make_rows
-- A row that is inserted twice has the same key: FINAL leaves one of them. A block that is inserted twice is dropped, of
-- the last so many; a replicated table has such a window by itself.
CREATE TABLE IF NOT EXISTS `{table}__rows` ({columns})
ENGINE = ReplacingMergeTree ORDER BY (_org_id, _job_id, _generation, _item)
SETTINGS non_replicated_deduplication_window = 1000

-- name: make_generations
CREATE TABLE IF NOT EXISTS `{table}__generations` (_org_id String, _job_id String, _generation Int64)
ENGINE = ReplacingMergeTree(_generation) ORDER BY (_org_id, _job_id)

-- name: make_view
CREATE OR REPLACE VIEW `{table}` AS SELECT {names} FROM `{table}__rows` FINAL
WHERE (_org_id, _job_id, _generation) IN (
  SELECT _org_id, _job_id, max(_generation) FROM `{table}__generations` GROUP BY _org_id, _job_id
)

-- name: find_columns
SELECT table, name, type, comment FROM system.columns
WHERE database = currentDatabase() AND table IN ('{table}', '{table}__rows') ORDER BY position

-- name: find_other
-- A table that is no view would be replaced by one.
SELECT name FROM system.tables WHERE database = currentDatabase() AND name = '{table}' AND engine != 'View'

-- name: find_stale
-- Rows of these jobs that are older than what counts, by job and generation: no view shows them.
SELECT DISTINCT held._org_id, held._job_id, toString(held._generation) FROM `{table}__rows` AS held INNER JOIN (
  SELECT _org_id, _job_id, max(_generation) AS newest FROM `{table}__generations`
  WHERE (_org_id, _job_id) IN ({jobs}) GROUP BY _org_id, _job_id
) AS kept ON held._org_id = kept._org_id AND held._job_id = kept._job_id
WHERE (held._org_id, held._job_id) IN ({jobs}) AND held._generation < kept.newest

-- name: erase_stale
-- Only what was found: rows of a newer generation may be there already that counts in a moment.
DELETE FROM `{table}__rows` WHERE (_org_id, _job_id, _generation) IN ({stale})
