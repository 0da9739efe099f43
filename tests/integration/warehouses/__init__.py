"""Writers of customers' warehouses against servers on real sockets."""
