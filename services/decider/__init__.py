"""The decider: the only writer of the ledger. Each partition has a thread that turns commands into events."""
