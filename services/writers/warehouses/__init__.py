"""Bulk-writers of customers' own warehouses: one table per destination, a row per item."""
