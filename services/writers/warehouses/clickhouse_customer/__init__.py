"""Writes rows to a customer's own ClickHouse, over HTTP."""
