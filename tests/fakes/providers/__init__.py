"""Providers that run here: HTTP over a real socket, strict about every request, after each provider's documentation."""
