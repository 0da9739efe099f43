-- Rows and jobs are parameters, JSON texts each: two of them, however many rows there are. Names that begin with $ are
-- no column's, whatever the items are like.
-- name: create
CREATE TABLE IF NOT EXISTS {table} ({declared}) USING DELTA
TBLPROPERTIES ('delta.isolationLevel' = 'Serializable')

-- name: create_gone
-- Of jobs that have no row: the generation that came without items, or the last there can be for one that was erased.
CREATE TABLE IF NOT EXISTS {gone} (org_id STRING, job_id STRING, generation BIGINT) USING DELTA
TBLPROPERTIES ('delta.isolationLevel' = 'Serializable')

-- name: add_gone
MERGE INTO {gone} AS held
USING (
  SELECT job[0] AS `$org`, job[1] AS `$job`, CAST(job[2] AS BIGINT) AS `$generation`
  FROM (SELECT EXPLODE(FROM_JSON(:jobs, 'ARRAY<ARRAY<STRING>>')) AS job)
) AS new
ON held.org_id = new.`$org` AND held.job_id = new.`$job`
WHEN MATCHED AND held.generation < new.`$generation` THEN UPDATE SET generation = new.`$generation`
WHEN NOT MATCHED THEN INSERT (org_id, job_id, generation) VALUES (new.`$org`, new.`$job`, new.`$generation`)

-- name: overtake
-- A change of metadata has every statement fail that is under way on the table: it may not have seen which jobs are gone.
ALTER TABLE {table} SET TBLPROPERTIES ('jobledger.gone' = '{mark}')

-- name: describe
DESCRIBE TABLE {table}

-- name: add_columns
ALTER TABLE {table} ADD COLUMNS ({declared})

-- name: write
-- The source has a row for each job, which matches what the table holds of older generations and of the items that come,
-- and deletes that, and the new rows, which match nothing and are inserted. Jobs of which the table holds a later
-- generation are in neither.
MERGE INTO {table} AS held
USING (
  WITH asked AS (
    SELECT job[0] AS `$org`, job[1] AS `$job`, CAST(job[2] AS BIGINT) AS `$generation`,
           CAST(job[3] AS BIGINT) AS `$first`, CAST(job[4] AS BIGINT) AS `$next`
    FROM (SELECT EXPLODE(FROM_JSON(:jobs, 'ARRAY<ARRAY<STRING>>')) AS job)
  ),
  jobs AS (
    SELECT `$org`, `$job`, `$generation`, `$first`, `$next` FROM asked
    WHERE NOT EXISTS (
      SELECT 1 FROM {table} AS later
      WHERE later._org_id = `$org` AND later._job_id = `$job` AND later._generation > `$generation`
    ) AND NOT EXISTS (
      SELECT 1 FROM {gone} AS later
      WHERE later.org_id = `$org` AND later.job_id = `$job` AND later.generation > `$generation`
    )
  ),
  items AS (
    SELECT {values}
    FROM (SELECT EXPLODE(FROM_JSON(:rows, 'ARRAY<ARRAY<STRING>>')) AS item)
  )
  SELECT TRUE AS `$clears`, `$org`, `$job`, `$generation`, `$first`, `$next`, {nothing}
  FROM jobs
  UNION ALL
  SELECT FALSE AS `$clears`, `$org`, `$job`, `$generation`, `$first`, `$next`, {names}
  FROM items JOIN jobs ON items._org_id = `$org` AND items._job_id = `$job`
) AS new
ON new.`$clears` AND held._org_id = new.`$org` AND held._job_id = new.`$job`
  AND (held._generation < new.`$generation` OR held._item >= new.`$first` AND held._item < new.`$next`)
WHEN MATCHED THEN DELETE
WHEN NOT MATCHED AND NOT new.`$clears` THEN INSERT ({names}) VALUES ({inserted})

-- name: erase
MERGE INTO {table} AS held
USING (
  SELECT job[0] AS `$org`, job[1] AS `$job`
  FROM (SELECT EXPLODE(FROM_JSON(:jobs, 'ARRAY<ARRAY<STRING>>')) AS job)
) AS new
ON held._org_id = new.`$org` AND held._job_id = new.`$job`
WHEN MATCHED THEN DELETE
