"""Schedules: when they are due, which due times are fired, and what a fire submits."""
