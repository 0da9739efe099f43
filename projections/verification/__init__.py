"""Checks the read model against the log with code that shares nothing with the fold it checks."""
