"""The bulk-writer of the internal Postgres store and its schema `extraction`."""
