"""Connection strings of libpq, looked at before libpq does: its errors quote what it does not understand."""

import psycopg
from psycopg.conninfo import conninfo_to_dict

from services.runtime.errors import SettingsError

URLS = ("postgresql://", "postgres://")


def check_dsn(key: str, dsn: str) -> None:
    """Raise SettingsError, without a part of it, where a password may be taken for a host, a port or a database.

    That is so where one in a URL holds a character that has to be percent-encoded.
    """
    try:
        read = conninfo_to_dict(dsn)
    except psycopg.Error:
        raise _unreadable(key) from None
    ports = str(read.get("port") or "").split(",")
    if any(port and not port.isdecimal() for port in ports):
        raise _unreadable(key)
    if dsn.startswith(URLS) and "@" in str(read.get("dbname") or ""):
        raise _unreadable(key)


def _unreadable(key: str) -> SettingsError:
    return SettingsError(
        f"{key} is no connection string of libpq (its text is not shown, for it may hold a password): in a URL, "
        "percent-encode user and password, so that / becomes %2F, @ %40, : %3A and % %25"
    )
