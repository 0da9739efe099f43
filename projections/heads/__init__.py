"""Signed heads: the newest hash of each org's chain, told to the blob store so that a truncated log is found out."""
