"""What is said of the place of a table, whatever the warehouse."""

from yarl import URL


def checked_url(field: str, text: str) -> URL:
    """Return the URL of a server, or raise ValueError that names the field."""
    try:
        url = URL(text)
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host or url.user or url.password or url.query or url.fragment:
        raise ValueError(f"{field} takes a URL with http or https and a host, and no user in it")
    return url
