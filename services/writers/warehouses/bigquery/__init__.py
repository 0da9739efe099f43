"""Writes rows to a table in a customer's BigQuery, over its REST API."""
