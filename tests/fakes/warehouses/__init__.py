"""Servers of warehouses that can be reached here, over real sockets."""
