#!/bin/bash
# Makes the user that Grafana reads with, when the database is made: it may read, but neither what may identify people
# nor what jobs extracted (docs/bi.md).
set -e
clickhouse client --user "$CLICKHOUSE_USER" --password "$CLICKHOUSE_PASSWORD" --multiquery <<SQL
CREATE USER IF NOT EXISTS grafana IDENTIFIED BY '$GRAFANA_CLICKHOUSE_PASSWORD';
GRANT SELECT ON jobledger.* TO grafana;
REVOKE SELECT(private) ON jobledger.job_events FROM grafana;
REVOKE SELECT ON jobledger.extraction_results FROM grafana;
SQL
