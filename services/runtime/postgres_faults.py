"""What may be told of a fault of Postgres, whose own texts quote connection strings, hosts, users and rows."""

import psycopg
from psycopg import errors

# What passes while we wait: no connection, no room, a primary that has become a standby, a session cut by a limit.
PASSING: tuple[type[psycopg.Error], ...] = (
    psycopg.OperationalError,
    errors.ReadOnlySqlTransaction,
    errors.IdleInTransactionSessionTimeout,
    errors.TransactionTimeout,
)


def reason_of(error: BaseException) -> str:
    """Return the class and the SQLSTATE of a fault of Postgres, which has none without a connection.

    Of any other error return its text.
    """
    if isinstance(error, psycopg.Error):
        return f"{type(error).__name__} {error.sqlstate or ''}".rstrip()
    return str(error).strip() or type(error).__name__
