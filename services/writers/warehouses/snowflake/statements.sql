-- Rows and keys are bound as JSON texts: one bind, however many rows there are. A JSON null becomes NULL.
-- name: create
CREATE TABLE IF NOT EXISTS {table} ({declared})

-- name: create_turns
CREATE TABLE IF NOT EXISTS {turns} ("TAKEN" NUMBER(19,0))

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
FROM {table}
WHERE ("_ORG_ID", "_JOB_ID") IN (
  SELECT value[0]::VARCHAR, value[1]::VARCHAR FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))
)
GROUP BY "_ORG_ID", "_JOB_ID"

-- name: delete
DELETE FROM {table}
WHERE ("_ORG_ID", "_JOB_ID") IN (
  SELECT value[0]::VARCHAR, value[1]::VARCHAR FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))
)

-- name: insert
INSERT INTO {table} ({names})
SELECT {values}
FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))
