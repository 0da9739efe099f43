"""Writes rows to a table in a customer's own Postgres."""
