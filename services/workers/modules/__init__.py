"""Modules: plug-ins whose jobs go through planned items."""
