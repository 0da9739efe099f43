"""Reads the topic of events from outside jobledger: docs/consumers.md. Begin with `schemas.client.reader.follow`."""
