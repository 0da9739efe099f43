"""A BigQuery on this machine: the calls that are documented, over a socket, and statements that really run."""
