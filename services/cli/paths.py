"""Paths of API calls: an id stays one segment, whatever characters somebody has typed into it."""

from urllib.parse import quote


def path_of(*segments: str) -> str:
    """Return the path of a call below /api/v1."""
    return "/api/v1/" + "/".join(quote(segment, safe="") for segment in segments)
