-- What a rebuild of the read model in ClickHouse asks of it; {database} and {table} are put in, {x:Type} are parameters.

-- name: databases
SELECT name FROM system.databases WHERE match(name, {pattern:String})

-- name: tables
SELECT name, engine FROM system.tables
WHERE database = {database:String} AND engine LIKE '%MergeTree' AND name != 'migrations' AND name NOT LIKE '.inner%'
ORDER BY name

-- name: columns
SELECT name, type, is_in_sorting_key FROM system.columns
WHERE database = {database:String} AND table = {table:String} AND default_kind IN ('', 'DEFAULT')
ORDER BY name

-- name: migrations
SELECT name, checksum FROM migrations FINAL
