"""What is said of the place of a table, whatever the warehouse."""

from yarl import URL

from services.writers.warehouses.checks import Check


def is_url(text: str) -> bool:
    """Tell whether this is the URL of a server."""
    try:
        url = URL(text)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and not (
        not url.host or url.user or url.password or url.query or url.fragment
    )


SERVER = Check(is_url, "a URL with http or https and a host, and no user in it")
