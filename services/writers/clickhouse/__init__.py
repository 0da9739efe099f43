"""Writes extractions to a table in ClickHouse."""
