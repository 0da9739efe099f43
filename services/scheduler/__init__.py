"""Fires schedules when they are due."""
