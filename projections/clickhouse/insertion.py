"""Gives the bytes of events to ClickHouse, which reads them itself; names the event that it cannot read.

InsertFault
├── Unreadable  ClickHouse cannot read one event; waiting does not cure it
└── Away        ClickHouse does not answer, or cannot take rows now
"""

from collections.abc import Sequence

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from services.runtime.raw_log import RawEntry
from services.runtime.strangers import place

FORMAT = "AvroConfluent"
TABLE, PROBE = "job_events", "job_events_probe"
NOTHING = "INSERT INTO job_events_probe SELECT * FROM job_events_probe LIMIT 0"  # needs what a probe needs, but events


class InsertFault(Exception):
    """Root of the faults of an insert."""


class Unreadable(InsertFault):
    """ClickHouse cannot read one event."""


class Away(InsertFault):
    """ClickHouse does not take rows now."""


class Insertion:
    """Inserts events as they are; `registry` is where ClickHouse looks their schemas up."""

    def __init__(self, client: Client, registry: str, topic: str) -> None:
        self._client = client
        self._topic = topic
        self._settings: dict[str, object] = {
            "format_avro_schema_registry_url": registry,
            "input_format_avro_allow_missing_fields": 1,
            "async_insert": 0,  # the answer has to mean that the rows are there
        }

    def insert(self, entries: Sequence[RawEntry], token: str) -> None:
        """Insert events once, however often this token is used for them."""
        try:
            self._send(TABLE, entries, {"insert_deduplication_token": token})
        except ClickHouseError as error:
            self._find_unreadable(entries)
            raise Away(str(error)) from error

    def _send(self, table: str, entries: Sequence[RawEntry], settings: dict[str, object]) -> None:
        body = b"".join([entry.raw for entry in entries])
        self._client.raw_insert(table, insert_block=body, fmt=FORMAT, settings=self._settings | settings)

    def _find_unreadable(self, entries: Sequence[RawEntry]) -> None:
        """Halve until the first event that cannot be read stands alone; return where all can be."""
        try:
            self._client.command(NOTHING)
        except ClickHouseError as error:  # a user without rights, a table that is gone: no event is to blame
            raise Away(str(error)) from error
        fault = self._refusal(entries)
        if fault is None:
            return
        while len(entries) > 1:
            middle = len(entries) // 2
            of_first_half = self._refusal(entries[:middle])
            entries = entries[:middle] if of_first_half else entries[middle:]
            fault = of_first_half or fault
        [entry] = entries
        fault = self._refusal(entries) or fault
        raise Unreadable(
            f"{place(self._topic, entry.partition, entry.offset)}, position {entry.position}: ClickHouse cannot read "
            f"this event, nothing behind it was inserted: {fault}"
        )

    def _refusal(self, entries: Sequence[RawEntry]) -> ClickHouseError | None:
        try:
            self._send(PROBE, entries, {})
        except ClickHouseError as error:
            code = getattr(error, "code", None)  # none: no server answered
            if code is None or code in PASSING:
                raise Away(str(error)) from error
            return error
        return None


PASSING = frozenset(
    {
        86,  # RECEIVED_ERROR_FROM_REMOTE_IO_SERVER: the registry answers with an error; that it has the schema we know
        159,  # TIMEOUT_EXCEEDED
        198,  # DNS_ERROR
        202,  # TOO_MANY_SIMULTANEOUS_QUERIES
        209,  # SOCKET_TIMEOUT
        210,  # NETWORK_ERROR
        241,  # MEMORY_LIMIT_EXCEEDED
        243,  # NOT_ENOUGH_SPACE
        252,  # TOO_MANY_PARTS
        1000,  # POCO_EXCEPTION: the registry does not answer
    }
)
