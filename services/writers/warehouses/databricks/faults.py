"""What an answer of Databricks means to the writer: its texts may quote values, so only names and numbers pass."""

import re

from services.writers.warehouses.piecewise import DataFault
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

_CLASS = re.compile(r"\[([A-Z][A-Z0-9_.]{2,100})\]")
_STATE = re.compile(r"SQLSTATE:? ?\(?([0-9A-Z]{5})\b")
_CONFLICT = re.compile(
    r"DELTA_(?:CONCURRENT_\w+|METADATA_CHANGED|PROTOCOL_CHANGED)|Concurrent\w+Exception|MetadataChangedException"
)
_THERE_ALREADY = re.compile(r"FIELDS?_ALREADY_EXISTS?|COLUMN_ALREADY_EXISTS|DELTA_DUPLICATE_COLUMNS_FOUND")
_BUSY = frozenset(
    {
        "ABORTED",
        "DEADLINE_EXCEEDED",
        "INTERNAL_ERROR",
        "IO_ERROR",
        "RESOURCE_EXHAUSTED",
        "SERVICE_UNDER_MAINTENANCE",
        "TEMPORARILY_UNAVAILABLE",
        "UNKNOWN",
        "WORKSPACE_TEMPORARILY_UNAVAILABLE",
    }
)
_PASSING = ("XX", "08", "40", "53", "57", "58")  # classes of SQLSTATE: internal, connection, rolled back, resources


class Conflict(DestinationDown):
    """Another writer committed first; the same statement may be given again."""


class ThereAlready(DestinationDown):
    """A column that was to be added is there."""


def statement_fault(code: str, message: str) -> Exception:
    """Return what to raise for a statement that failed; `code` is that of the API, `message` has the error class."""
    named, state = _first(_CLASS, message), _first(_STATE, message)
    said = f"Databricks error {named or code or '-'} ({state or '-'})"
    if _CONFLICT.search(message) or state == "2D521":
        return Conflict(f"{said}: another writer was first")
    if _THERE_ALREADY.search(named):
        return ThereAlready(f"{said}: the column is there")
    if state.startswith(("22", "23")):
        return DataFault(f"{said}: a value does not fit its column, or a constraint of the table")
    if state.startswith(("42", "28", "0A")) or code in ("PERMISSION_DENIED", "UNAUTHENTICATED"):
        return Refusal(f"{said}: check that catalog, schema and table are there, and what the token may do with them")
    if code in _BUSY or not code or state.startswith(_PASSING):
        return DestinationDown(said)
    return Refusal(f"{said}: the statement was refused")


def http_fault(status: int, code: str) -> Exception:
    """Return what to raise for an answer that is no statement's; `code` is its error_code, if it has one."""
    said = f"Databricks answered HTTP {status} {code if re.fullmatch(r'[A-Z_]{1,60}', code) else ''}".rstrip()
    match status:
        case 401 | 403:
            return Refusal(f"{said}: check the secret, and that it may use the SQL warehouse")
        case 404:
            return Refusal(f"{said}: check host and warehouseId")
        case 408 | 425 | 429:
            return DestinationDown(said)
        case _ if 300 <= status < 500:
            return Refusal(f"{said}: check host and warehouseId")
        case _:
            return DestinationDown(said)


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found.group(1) if found else ""
