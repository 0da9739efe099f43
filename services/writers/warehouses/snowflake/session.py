"""One session with Snowflake, used by one thread at a time; it logs in when it has to."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import snowflake.connector
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from snowflake.connector import SnowflakeConnection, errors

from services.writers.warehouses.snowflake.faults import fault_of
from services.writers.warehouses.snowflake.settings import SnowflakeSecrets, SnowflakeSettings

LOGIN_SECONDS = 20
REQUEST_SECONDS = 100  # of one statement, with the times that the connector sends it again by itself
STATEMENT_SECONDS = 90
LOCK_SECONDS = 60  # a lock of a writer that is gone stays for 5 minutes: it is waited for again and again

Row = tuple[Any, ...]


class Session:
    """Statements and transactions over one connection."""

    def __init__(
        self,
        settings: SnowflakeSettings,
        secrets: SnowflakeSecrets,
        *,
        protocol: str = "https",
        port: int = 443,
        patience_seconds: int = REQUEST_SECONDS,
    ) -> None:
        self._settings = settings
        self._login = _login(secrets)
        self._protocol = protocol
        self._port = port
        self._patience_seconds = patience_seconds
        self._connection: SnowflakeConnection | None = None
        self._turn = threading.Lock()  # a call that was given up may still run in its thread

    def close(self) -> None:
        """Log out."""
        with self._turn:
            self._forget()

    @contextmanager
    def statements(self) -> Iterator["Session"]:
        """Run statements, each for itself; after an error that is not about data the next call logs in anew."""
        with self._turn:
            try:
                yield self
            except errors.Error as error:
                self._forget()
                raise fault_of(error) from None  # its text may quote values

    @contextmanager
    def transaction(self) -> Iterator["Session"]:
        """Run statements of which all or none are in effect; where the answer to COMMIT is lost nobody knows which."""
        with self.statements():
            self.execute("BEGIN TRANSACTION")
            try:
                yield self
            except BaseException as error:
                self._roll_back(error)
                raise
            self.execute("COMMIT")

    def execute(self, statement: str, *bound: str) -> Sequence[Row]:
        """Run a statement and return its rows."""
        with self._connected().cursor() as cursor:
            cursor.execute(statement, bound or None)
            return cursor.fetchall()

    def _connected(self) -> SnowflakeConnection:
        if self._connection is None:
            settings = self._settings
            self._connection = snowflake.connector.connect(
                account=settings.account,
                host=settings.reached_at,
                port=self._port,
                protocol=self._protocol,
                user=settings.user,
                database=settings.database,
                schema=settings.schema,
                warehouse=settings.warehouse,
                role=settings.role or None,
                application="jobledger",
                paramstyle="qmark",
                autocommit=True,
                login_timeout=min(LOGIN_SECONDS, self._patience_seconds),
                network_timeout=self._patience_seconds,
                platform_detection_timeout_seconds=0,  # else it asks the machine's metadata service, at each login
                session_parameters={
                    "CLIENT_TELEMETRY_ENABLED": False,
                    "ABORT_DETACHED_QUERY": True,
                    "LOCK_TIMEOUT": LOCK_SECONDS,
                    "STATEMENT_TIMEOUT_IN_SECONDS": STATEMENT_SECONDS,
                    "TIMEZONE": "UTC",
                    "QUERY_TAG": "jobledger",
                },
                **self._login,
            )
        return self._connection

    def _roll_back(self, error: BaseException) -> None:
        """Roll back what failed; where nobody answers, Snowflake does it once the session is over."""
        if isinstance(error, errors.Error) and not isinstance(error, errors.ProgrammingError):
            self._forget()
        else:
            self.execute("ROLLBACK")

    def _forget(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            with suppress(errors.Error):  # it may be gone already
                connection.close(retry=False)


def _login(secrets: SnowflakeSecrets) -> dict[str, Any]:
    if secrets.password:
        return {"password": secrets.password}
    if secrets.token:
        return {"authenticator": "PROGRAMMATIC_ACCESS_TOKEN", "token": secrets.token}
    return {
        "authenticator": "SNOWFLAKE_JWT",
        "private_key": secrets.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
    }
