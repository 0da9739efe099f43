"""Rebuilds a read model from the log into a new version, beside the one in use, and puts it in that one's place."""
