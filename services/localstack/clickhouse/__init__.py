"""ClickHouse's HTTP interface over one embedded engine (chdb), for stacks that have no ClickHouse server.

Only as much of the interface as clickhouse-connect needs. One process per directory: the engine would corrupt what two
of them write. Nothing here may fork once the engine is open: its threads and locks do not survive that.
"""
