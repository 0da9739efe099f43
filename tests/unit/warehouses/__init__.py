"""What writers of customers' warehouses say and understand, without a server."""
