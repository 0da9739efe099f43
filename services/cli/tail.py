"""`jobledger tail`: the events of the ledger, decoded, straight from the log."""

import contextlib
import os
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.terminal import Json, print_json, told

if TYPE_CHECKING:
    from schemas.codec import Decoder
    from schemas.recorded import Recorded
    from services.runtime.reader import Record
    from services.runtime.settings import Settings

app = typer.Typer()
POLL_EVENTS = 1000
POLL_SECONDS = 0.2
# A transaction ends with a marker that takes an offset and holds at least one event, save where it was aborted.
OFFSETS_PER_EVENT = 3


@app.command()
def tail(
    lines: Annotated[int, typer.Option("-n", min=0, help="How many of the last events that fit.")] = 20,
    from_start: Annotated[bool, typer.Option("--from-start", help="All events from the first one on.")] = False,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on as events are recorded.")] = False,
    org: Annotated[str, typer.Option(help="Only events of this org.")] = "",
    kind: Annotated[str, typer.Option("--type", help="Only events of this type, for example JobCompleted.")] = "",
    private: Annotated[bool, typer.Option("--private", help="Show url, input, metadata and error texts too.")] = False,
    as_json: Json = False,
) -> None:
    """Print events of the ledger as they were recorded."""
    from schemas.plain import plain_event
    from services.cli.event_lines import event_line, in_order
    from services.localstack.attach import attached_settings

    def fits(recorded: "Recorded") -> bool:
        return org in ("", recorded.event.org_id) and kind in ("", recorded.header.event_type)

    def tell(recorded: "Recorded") -> None:
        if as_json:
            print_json(plain_event(recorded, private=private))
        else:
            typer.echo(event_line(recorded, private=private))

    with told(), contextlib.suppress(KeyboardInterrupt):
        settings = attached_settings(os.environ)
        _check_type(kind)
        last: deque[Recorded] = deque(maxlen=lines)
        reached_end = False
        for batch, at_end in _batches(settings, everything=from_start or bool(org or kind), lines=lines):
            fitting = in_order(recorded for recorded in batch if fits(recorded))
            if from_start or reached_end:
                for recorded in fitting:
                    tell(recorded)
            else:
                last.extend(fitting)
            if at_end and not reached_end:
                reached_end = True
                for recorded in in_order(last):
                    tell(recorded)
            if reached_end and not follow:
                return


def _batches(settings: "Settings", *, everything: bool, lines: int) -> Iterator[tuple[list["Recorded"], bool]]:
    """Yield events as they come, and with each batch whether the log had been read to its end then."""
    from services.runtime.reader import LogReader
    from services.runtime.registry import decoder
    from services.runtime.topics import events

    topic = events(settings)
    partitions = range(settings.partitions)
    starts = dict.fromkeys(partitions, 0) if everything else _starts(settings, topic, lines)
    decode = decoder(settings)
    reader = LogReader(settings, topic, starts)
    try:
        while True:
            records = reader.poll(POLL_EVENTS, POLL_SECONDS)
            found = (_event(record, decode) for record in records)
            yield [recorded for recorded in found if recorded], reader.at_end()
    finally:
        reader.close()


def _event(record: "Record", decode: "Decoder") -> "Recorded | None":
    """Return the event in a record; None of a type that is not known, of a fence, and of what is no event of ours."""
    from services.runtime.strangers import Stranger, claim_of, is_fence, place

    try:
        return None if is_fence(record) else claim_of(record, decode.whole).recorded
    except Stranger as stranger:
        at = place(record.topic, record.partition, record.offset)
        typer.echo(f"left out, no event of ours: {at}: {stranger}", err=True)
        return None


def _starts(settings: "Settings", topic: str, lines: int) -> dict[int, int]:
    """Return from where on each partition holds its last `lines` events; Tansu cannot tell where a topic ends."""
    from services.runtime.ends import committed_end, first_offsets

    partitions = range(settings.partitions)
    firsts = first_offsets(settings, topic, partitions)
    if settings.broker == "tansu":
        return firsts
    ends = committed_end(settings, topic, partitions)
    return {partition: max(firsts[partition], ends[partition] - OFFSETS_PER_EVENT * lines) for partition in partitions}


def _check_type(kind: str) -> None:
    from schemas.events import EVENT_TYPES

    if kind and kind not in EVENT_TYPES:
        raise typer.BadParameter(f"there is no event {kind}; there are {', '.join(sorted(EVENT_TYPES))}")
