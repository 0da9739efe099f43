"""Faust as workers and writers use it; with their two app modules the only code that imports it."""
