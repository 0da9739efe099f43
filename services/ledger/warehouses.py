"""Kinds of destinations whose tables are their customers' own."""

WAREHOUSES = ("customer_postgres", "customer_clickhouse", "bigquery", "snowflake", "databricks")
