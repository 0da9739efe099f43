-- Rows and keys are bound as JSON texts: one bind, however many rows there are. A JSON null becomes NULL.
-- name: create
CREATE TABLE IF NOT EXISTS {table} ({declared})

-- name: create_turns
CREATE TABLE IF NOT EXISTS {turns} ("TAKEN" NUMBER(19,0))

-- name: create_gone
-- Of jobs that have no row: the generation that came without items, or the last there can be for one that was erased.
CREATE TABLE IF NOT EXISTS {gone} ("ORG_ID" VARCHAR, "JOB_ID" VARCHAR, "GENERATION" NUMBER(19,0))

-- name: first_turn
-- One row; where two writers came first at the same time, two rows do as well.
INSERT INTO {turns} ("TAKEN") SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM {turns})

-- name: take_turn
-- Each transaction changes this row first: Snowflake lets one at a time do that, so writers take turns.
UPDATE {turns} SET "TAKEN" = "TAKEN" + 1

-- name: describe
DESCRIBE TABLE {table}

-- name: add_columns
ALTER TABLE {table} ADD {added}

-- name: held
SELECT "_ORG_ID", "_JOB_ID", MAX("_GENERATION")
FROM (
  SELECT "_ORG_ID", "_JOB_ID", "_GENERATION" FROM {table}
  UNION ALL
  SELECT "ORG_ID", "JOB_ID", "GENERATION" FROM {gone}
) AS known
WHERE ("_ORG_ID", "_JOB_ID") IN (
  SELECT value[0]::VARCHAR, value[1]::VARCHAR FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))
)
GROUP BY "_ORG_ID", "_JOB_ID"

-- name: delete
-- Rows of older generations, and of the items that come: others of this generation came in a block before.
DELETE FROM {table}
USING (
  SELECT value[0]::VARCHAR AS org_id, value[1]::VARCHAR AS job_id, value[2]::NUMBER(19,0) AS generation,
         value[3]::NUMBER(19,0) AS first_item, value[4]::NUMBER(19,0) AS next_item
  FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))
) AS new
WHERE "_ORG_ID" = new.org_id AND "_JOB_ID" = new.job_id
  AND ("_GENERATION" < new.generation OR "_ITEM" >= new.first_item AND "_ITEM" < new.next_item)

-- name: insert
INSERT INTO {table} ({names})
SELECT {values}
FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))

-- name: forget_gone
DELETE FROM {gone}
WHERE ("ORG_ID", "JOB_ID") IN (
  SELECT value[0]::VARCHAR, value[1]::VARCHAR FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))
)

-- name: insert_gone
INSERT INTO {gone} ("ORG_ID", "JOB_ID", "GENERATION")
SELECT value[0]::VARCHAR, value[1]::VARCHAR, value[2]::NUMBER(19,0)
FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))
