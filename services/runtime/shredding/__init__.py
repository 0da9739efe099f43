"""Erasure by destroying keys: what identifies people is sealed under a key per job, which goes when the job does."""
