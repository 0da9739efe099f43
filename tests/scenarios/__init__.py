"""The scenarios that bite people who run such systems, by their numbers."""
