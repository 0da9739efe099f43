"""Fires schedules when they are due, and lets results expire that are past retention."""
