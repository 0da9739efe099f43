"""What a request asks for: told from the text of its statement, as far as the engine has to be called differently."""

import re
from dataclasses import dataclass

from services.localstack.clickhouse.faults import NOT_IMPLEMENTED, EngineFault

INSERT = re.compile(rb"\s*(INSERT\s+INTO\s.*?)\bFORMAT\s+(\w+)[ \t\r\f]*(?:\n|$)", re.IGNORECASE | re.DOTALL)
INSERT_HEAD_BYTES = 65_536  # within which an INSERT has said its format
LAST_FORMAT = re.compile(rb"\bFORMAT\s+(\w+)\s*;?\s*$", re.IGNORECASE)
SELECT = re.compile(rb"(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:SELECT|WITH)\b", re.IGNORECASE | re.DOTALL)
STREAMING_ENGINE = re.compile(rb"\bENGINE\s*=?\s*(Kafka|NATS|RabbitMQ)\b", re.IGNORECASE)
STREAMED = frozenset({"Native", "TabSeparated", "TSV", "CSV", "RowBinary", "JSONEachRow"})


@dataclass(frozen=True, slots=True)
class Insert:
    """Rows to be parsed by the engine; `head` ends before the word FORMAT."""

    head: str
    format: str
    rows: bytes


@dataclass(frozen=True, slots=True)
class Query:
    """Anything else; `streams` says that its result may be handed out piece by piece."""

    text: str
    format: str
    names_format: bool  # the text itself says the format
    streams: bool


def read(text: bytes, data: bytes, default_format: str) -> Insert | Query:
    """Return what is asked for, or refuse what would damage the engine's directory."""
    if STREAMING_ENGINE.search(text):
        raise EngineFault(
            NOT_IMPLEMENTED,
            "an engine that reads streams would corrupt this directory: use a ClickHouse server",
        )
    insert = INSERT.match(text[:INSERT_HEAD_BYTES])
    if insert:
        return Insert(insert[1].decode(), insert[2].decode(), text[insert.end() :] + data)
    whole = b"\n".join(part for part in (text, data) if part)
    named = LAST_FORMAT.search(whole)
    chosen = named[1].decode() if named else default_format
    streams = named is not None and chosen in STREAMED and SELECT.match(whole) is not None
    return Query(whole.decode(), chosen, named is not None, streams)
