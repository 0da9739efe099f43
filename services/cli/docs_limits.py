"""The page of docs/ on limits: how much every call of the API and every topic takes, made from their declarations."""

from api.http import BODY_SECONDS, MAX_NOTHING_BYTES, REQUEST_SECONDS
from api.limits import ORG_FACTOR
from api.operation import Operation
from api.routes.all import OPERATIONS
from api.server import MAX_HEADER_BYTES, MAX_LINE_BYTES
from api.spiders.uploading import MAX_TEXT_BYTES, UPLOAD_SECONDS
from services.runtime.admin import MAX_RECORD_BYTES
from services.runtime.dead_letter import VALUE_LIMIT_BYTES
from services.runtime.settings import Settings
from services.runtime.topics import all_topics
from services.workers.spiders.archive import MAX_ARCHIVE_BYTES, MAX_ENTRIES, MAX_UNPACKED_BYTES

KIB, MIB = 1024, 1024 * 1024
OF_PROCESSES = ("/health", "/ready", "/metrics")  # of every process; the API has them too


def limits_page(settings: Settings) -> str:
    """Return the page on limits, with the rates of these settings."""
    return "\n".join([_about(settings), "", *_calls(), "", _topics(settings), ""])


def _about(settings: Settings) -> str:
    return f"""\
# Limits of sizes and rates

Generated from what declares them by `python -m services.cli.docs_check --write`; do not edit. What they defend:
[security](security.md).

## Calls of the API

A request line takes {_size(MAX_LINE_BYTES)}, a header {MAX_HEADER_BYTES} bytes; a body has to arrive within \
{BODY_SECONDS:g} s, a form within {UPLOAD_SECONDS:g} s, and a call that is no stream is answered within \
{REQUEST_SECONDS:g} s. `nothing`: the call takes no body ({MAX_NOTHING_BYTES} bytes, for clients that send `{{}}`).

| rate | what is counted, by each API process |
|---|---|
| key | calls of a key: {settings.calls_per_second:g} a second (`JOBLEDGER_CALLS_PER_SECOND`, or the org's own), \
{ORG_FACTOR:g} times as many for all keys of an org together; above: 429 |
| operator | not counted: one key, which is yours; bad ones are, as below |
| none | open to everybody and answered from memory: the load balancer's |
| whoever has no good key | {settings.failed_calls_per_second:g} a second from one address \
(`JOBLEDGER_FAILED_CALLS_PER_SECOND`); above: 429 |

Streams: {settings.streams_per_key} open at once for a key and {settings.streams_per_org} for an org, on each process \
(`JOBLEDGER_STREAMS_PER_KEY`, `JOBLEDGER_STREAMS_PER_ORG`). Jobs have limits of their own: those pending and in flight \
of an org, and its credits.

An archive of spiders is {_size(MAX_ARCHIVE_BYTES)} as it comes, {_size(MAX_UNPACKED_BYTES)} and {MAX_ENTRIES:,} \
entries unpacked; a field beside it {_size(MAX_TEXT_BYTES)}.
"""


def _calls() -> list[str]:
    rows = [f"| `{each.method} {each.path}` | {_body(each)} | {_rate(each)} |" for each in OPERATIONS]
    rows += [f"| `GET {path}` | not read | none |" for path in OF_PROCESSES]
    return ["| call | body at most | rate |", "|---|---|---|", *rows]


def _body(operation: Operation) -> str:
    if operation.form:
        return f"form with a file of {_size(MAX_ARCHIVE_BYTES)}"
    return _size(operation.max_body_bytes) if operation.body else "nothing"


def _rate(operation: Operation) -> str:
    if operation.access == "open":
        return "none"
    if operation.access == "operator":
        return "operator"
    return "key, operator" if operation.operator_too else "key"


def _topics(settings: Settings) -> str:
    rows = "\n".join(
        f"| `{topic.name}` | {MAX_RECORD_BYTES:,} bytes | {_time(topic.retention_ms)} |"
        for topic in all_topics(settings)
    )
    return f"""\
## Topics

`max.message.bytes` bounds a record on the broker (`jobledger topics plan` tells of drift). A reader lets no more wait
than it has room for: it takes the next record when one is done. What is no message is dead-lettered, its value cut to
{_size(VALUE_LIMIT_BYTES)}; after {settings.dead_letter_limit} of one topic within an hour \
(`JOBLEDGER_DEAD_LETTER_LIMIT`) the process stops. Rates of those who may write are the broker's: give a user of Kafka
`producer_byte_rate` and `consumer_byte_rate` (`kafka-configs --entity-type users`).

| topic | a record at most | is kept |
|---|---|---|
{rows}"""


def _size(count: int) -> str:
    if count % MIB == 0:
        return f"{count // MIB} MiB"
    return f"{count / MIB:.4g} MiB" if count > MIB else f"{count / KIB:g} KiB"


def _time(milliseconds: int) -> str:
    if milliseconds < 0:
        return "for ever"
    hours = milliseconds // 3_600_000
    return f"{hours // 24} days" if hours >= 24 else f"{hours} h"
