-- Statements of BigQuery's GoogleSQL, whose names of tables and columns are put in.

-- name: write
-- Jobs whose generation is not older than what is kept of them: afterwards theirs is the kept one, and the rows of no
-- other are in the table. Rows of the same one that are of other items came in a block before, and stay. The line
-- without an item names a job and its generation. Transactions that only add rows do not exclude each other; those that
-- change the one row without a job do.
BEGIN TRANSACTION;
SELECT IF((SELECT COUNT(*) FROM {staged} WHERE _item IS NULL) = {jobs}, NULL, ERROR('{not_staged}'));
MERGE INTO {kept} AS kept
USING (
  SELECT _org_id, _job_id, _generation FROM {staged} WHERE _item IS NULL UNION ALL SELECT '', '', 0
) AS staged
ON kept._org_id = staged._org_id AND kept._job_id = staged._job_id
WHEN MATCHED AND (kept._generation < staged._generation OR kept._job_id = '') THEN UPDATE SET _generation = staged._generation
WHEN NOT MATCHED THEN INSERT (_org_id, _job_id, _generation)
VALUES (staged._org_id, staged._job_id, staged._generation);
DELETE FROM {table} AS held
WHERE held._job_id IN UNNEST(@job_ids) AND EXISTS (
  SELECT 1 FROM (
    SELECT _org_id, _job_id, _generation, MIN(_item) AS first_item, MAX(_item) AS last_item FROM {staged}
    GROUP BY _org_id, _job_id, _generation
  ) AS staged JOIN {kept} AS kept
  ON kept._org_id = staged._org_id AND kept._job_id = staged._job_id AND kept._generation = staged._generation
  WHERE staged._org_id = held._org_id AND staged._job_id = held._job_id
    AND (held._generation < staged._generation OR held._item BETWEEN staged.first_item AND staged.last_item)
);
INSERT INTO {table} ({names})
SELECT {values} FROM {staged} AS staged JOIN {kept} AS kept
ON kept._org_id = staged._org_id AND kept._job_id = staged._job_id AND kept._generation = staged._generation
WHERE staged._item IS NOT NULL;
COMMIT TRANSACTION;

-- name: erase
-- No generation is newer than the one that is kept of an erased job, so that nothing that comes late brings it back.
BEGIN TRANSACTION;
DELETE FROM {table} WHERE _org_id = @org_id AND _job_id IN UNNEST(@job_ids);
DELETE FROM {kept} WHERE _job_id = '' OR _org_id = @org_id AND _job_id IN UNNEST(@job_ids);
INSERT INTO {kept} (_org_id, _job_id, _generation)
SELECT @org_id, job_id, 9223372036854775807 FROM UNNEST(@job_ids) AS job_id UNION ALL SELECT '', '', 0;
COMMIT TRANSACTION;
