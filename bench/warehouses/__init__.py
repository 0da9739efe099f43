"""What writers of stores and warehouses cost above their drivers, and what consuming costs them."""
