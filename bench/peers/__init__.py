"""How the ledger compares with other systems that run jobs, on one machine in one run."""
