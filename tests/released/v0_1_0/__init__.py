"""SQL of release 0.1.0, and what its rows may hold."""
