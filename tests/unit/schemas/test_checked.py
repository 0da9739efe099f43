"""What fits its checksum is not read, and everything else is: by the same rule, with the same outcome."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.checked import Checked
from schemas.checksum import CHECKSUM_HEADER
from schemas.codec import Claim, Decoder
from schemas.events import WorkerAlive
from schemas.record import Record
from schemas.strangers import EventsMissing, SchemaLost, Stranger
from tests.fakes.records import IDS, event_record
from tests.fakes.strangers import org, schema_of


class Reading:
    """Reads events, and counts how often."""

    def __init__(self, registry: Any = schema_of) -> None:
        self._claim = Decoder(registry).claim
        self.read = 0

    def __call__(self, value: bytes) -> Claim:
        self.read += 1
        return self._claim(value)


def checked(*known: Record) -> tuple[Checked, Reading]:
    """Return a judge that has judged these, and how it reads from then on."""
    reading = Reading()
    judge = Checked(reading)
    for number, record in enumerate(known):
        judge.next_claim(record, number)
    reading.read = 0
    return judge, reading


def with_header(record: Record, name: str, value: bytes) -> Record:
    headers = [(each, value if each == name else said) for each, said in record.headers]
    return msgspec.structs.replace(record, headers=headers)


def test_of_each_schema_the_first_event_is_read_and_no_other() -> None:
    reading = Reading()
    judge = Checked(reading)
    records = [
        org(1),
        org(2),
        event_record(3, WorkerAlive(worker_id="w")),
        org(4),
        event_record(5, WorkerAlive(worker_id="v")),
    ]
    claims = [judge.next_claim(record, number) for number, record in enumerate(records)]
    assert [(claim.partition, claim.position, claim.org_id) for claim in claims if claim] == [
        (0, 1, "acme"),
        (0, 2, "acme"),
        (0, 3, ""),
        (0, 4, "acme"),
        (0, 5, ""),
    ]
    assert reading.read == 2


ALTERED: dict[str, Callable[[Record], dict[str, Any]]] = {
    "no checksum, as of an earlier version": lambda r: {"headers": r.headers[:-1]},
    "the checksum of other bytes": lambda r: {"headers": org(2).headers},
    "an empty checksum": lambda r: {"headers": with_header(r, CHECKSUM_HEADER, b"").headers},
    "another type in its header": lambda r: {"headers": with_header(r, "ce_type", b"jobledger.JobDeleted").headers},
    "headers in another order": lambda r: {"headers": r.headers[::-1]},
    "one header more": lambda r: {"headers": [*r.headers, ("traceparent", b"")]},
}  # fmt: skip


@pytest.mark.parametrize("what", ALTERED)
def test_an_event_with_something_else_beside_it_is_read(what: str) -> None:
    judge, reading = checked(org(1))
    good = org(2)
    claim = judge.next_claim(msgspec.structs.replace(good, **ALTERED[what](good)), 1)
    assert claim == Claim(0, 2, "acme")
    assert reading.read == 1


@given(st.data())
def test_one_bit_that_is_not_as_it_was_written_has_the_event_read(data: st.DataObject) -> None:
    judge, reading = checked(org(1))
    good = org(2)
    at = data.draw(st.integers(5, len(good.value) - 1))
    value = bytearray(good.value)
    value[at] ^= 1 << data.draw(st.integers(0, 7))
    with suppress(Stranger):
        judge.next_claim(msgspec.structs.replace(good, value=bytes(value)), 1)
    assert reading.read == 1


@pytest.mark.parametrize(
    "moved",
    [
        msgspec.structs.replace(org(2), partition=1),
        msgspec.structs.replace(org(2), key="globex"),
        msgspec.structs.replace(org(2), key=""),
        with_header(org(7), "ledger-position", b"2"),
    ],
    ids=["partition", "key", "no key", "position"],
)
def test_a_whole_event_at_another_place_than_it_was_written_for_is_a_strangers(moved: Record) -> None:
    judge, reading = checked(org(1))
    with pytest.raises(Stranger):
        judge.next_claim(moved, 1)
    assert reading.read == 1


def test_what_was_seen_is_dropped_and_what_is_missing_stops_whatever_its_checksum() -> None:
    judge, _ = checked(org(1), org(2))
    assert judge.next_claim(org(2), 2) is None
    with pytest.raises(EventsMissing):
        judge.next_claim(org(4), 2)


def test_a_registry_that_the_log_was_not_written_with_is_noticed_by_the_first_event() -> None:
    def registry(schema_id: int) -> Any:
        return schema_of(IDS["WorkerAlive"] if schema_id == IDS["OrgRegistered"] else schema_id)

    with pytest.raises(SchemaLost, match="is it the registry that this log was written with"):
        Checked(Reading(registry)).next_claim(org(1), 0)
