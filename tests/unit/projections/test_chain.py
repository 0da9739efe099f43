"""Whatever is done to a log after it was written is named, wherever it is done."""

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec
import pytest

from projections.heads.signing import Head, SignedHead, Signer, Verifier
from projections.verification.chain import check_chain
from projections.verification.faults import Fault
from schemas.avro_of import record_schema
from schemas.codec import Decoder
from schemas.events import EVENT_TYPES
from schemas.recorded import Recorded
from services.ledger.record import digest_of
from services.runtime.errors import SettingsError
from services.runtime.reader import Record
from services.runtime.strangers import position_of
from tests.event_streams import ENCODER, Stream, records_of

SIGNER = Signer(base64.b64encode(bytes(32)).decode())
SIGNED_AT = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = dict(enumerate(EVENT_TYPES, start=1))
DECODER = Decoder(lambda schema_id: record_schema(NAMES[schema_id]))


def stream() -> Stream:
    """A log of two orgs with jobs of every kind of end, interleaved."""
    stream = Stream().open()
    for org in (0, 1, 0):
        job = stream.submit(org)
        stream.dispatch(job)
        stream.claim(job)
        stream.extract(job)
    return stream


STREAM = stream()
RECORDS = records_of(STREAM)
LAST = len(RECORDS)
# The next event of an org vouches for the one before it; the last ones need their signed heads.
NEWEST = {record.key: number for number, record in enumerate(RECORDS)}


def heads(records: Sequence[Record] = RECORDS) -> dict[str, SignedHead]:
    """Sign the heads of a log."""
    made = {}
    for record in records:
        place = {"org_id": record.key, "partition": 0, "position": position_of(record)}
        made[record.key] = SIGNER.sign(Head(ledger="test", hash=digest_of(record.value).hex(), **place), SIGNED_AT)  # type: ignore[arg-type]
    return made


def found(records: Sequence[Record], signed: Mapping[str, SignedHead] | None = None) -> list[Fault]:
    return check_chain(records, DECODER, 0, heads() if signed is None else signed).faults


def named(faults: Sequence[Fault]) -> set[tuple[str, int]]:
    """Return what is said to be wrong, and at which positions."""
    return {(fault.field, int(fault.job_id.rpartition(" ")[2])) for fault in faults}


def edited(record: Record) -> Record:
    """Change who asked for an event, and nothing else."""
    recorded = DECODER.decode(record.value)
    assert recorded
    header = msgspec.structs.replace(recorded.header, actor="somebody else")
    return msgspec.structs.replace(record, value=ENCODER.encode(Recorded(header, recorded.event)))


def test_a_log_as_the_decider_wrote_it_is_whole() -> None:
    assert found(RECORDS) == []
    assert found(RECORDS, {}) == []


@pytest.mark.parametrize("number", range(LAST))
def test_an_edited_event_is_named(number: int) -> None:
    records = [*RECORDS[:number], edited(RECORDS[number]), *RECORDS[number + 1 :]]
    assert named(found(records)) == {("bytes", number + 1)}
    if number not in NEWEST.values():
        assert named(found(records, {})) == {("bytes", number + 1)}, "without a signed head too"


@pytest.mark.parametrize("number", range(LAST))
def test_bytes_that_are_no_event_any_more_are_named(number: int) -> None:
    broken = msgspec.structs.replace(RECORDS[number], value=RECORDS[number].value[:7])
    assert named(found([*RECORDS[:number], broken, *RECORDS[number + 1 :]])) == {("bytes", number + 1)}


@pytest.mark.parametrize("number", range(LAST - 1))
def test_reordered_events_are_named(number: int) -> None:
    records = [*RECORDS]
    records[number], records[number + 1] = records[number + 1], records[number]
    assert named(found(records)) == {("order", number + 1)}


@pytest.mark.parametrize("number", range(LAST - 1))
def test_a_dropped_event_is_named(number: int) -> None:
    faults = named(found([*RECORDS[:number], *RECORDS[number + 1 :]]))
    assert ("event", number + 1) in faults
    assert faults <= {("event", number + 1), ("last event", number + 1)}


@pytest.mark.parametrize("missing", [1, 3, LAST])
def test_a_truncated_log_is_named_by_its_signed_heads_and_by_them_alone(missing: int) -> None:
    records = RECORDS[: LAST - missing]
    gone = {record.key for record in RECORDS[LAST - missing :]}
    assert named(found(records)) == {("last event", NEWEST[org_id] + 1) for org_id in gone}
    assert found(records, {}) == []


def test_an_event_that_stands_twice_is_named() -> None:
    assert named(found([*RECORDS[:4], RECORDS[3], *RECORDS[4:]])) == {("event", 4)}


def test_a_forged_position_far_away_is_named_without_counting_up_to_it() -> None:
    assert ("events", 6) in named(found([*RECORDS[:5], placed(RECORDS[5], 999_999_999_999)]))


def placed(record: Record, position: int) -> Record:
    """Say that an event has another position, in its header and in itself."""
    recorded = DECODER.decode(record.value)
    assert recorded
    header = msgspec.structs.replace(recorded.header, position=position)
    value = ENCODER.encode(Recorded(header, recorded.event))
    return msgspec.structs.replace(record, value=value, headers=[("ledger-position", b"%d" % position)])


@pytest.mark.parametrize("number", range(1, LAST))
def test_a_well_formed_forgery_in_front_of_the_event_whose_place_it_takes_is_named(number: int) -> None:
    """No reader can tell it from the event: the one that comes first is folded."""
    forged = placed(edited(RECORDS[number - 1]), number + 1)
    assert ("event", number + 1) in named(found([*RECORDS[:number], forged, *RECORDS[number:]]))
    assert ("event", number + 1) in named(found([*RECORDS[:number], forged, *RECORDS[number:]], {}))


def test_a_well_formed_forgery_behind_the_last_event_is_named_once_the_decider_has_gone_on() -> None:
    forged = placed(edited(RECORDS[LAST - 1]), LAST + 1)
    assert named(found([*RECORDS, forged])) & {("bytes", LAST), ("bytes", LAST + 1)}


@pytest.mark.parametrize("number", range(LAST + 1))
def test_junk_between_the_events_is_counted_and_is_no_fault(number: int) -> None:
    junk = Record("events", 0, number * 2 + 1, "org-0", b"\xff\x00\xfe", [], 0)
    forged = msgspec.structs.replace(junk, headers=[("ledger-position", b"%d" % (number + 1))])
    checked = check_chain([*RECORDS[:number], junk, forged, *RECORDS[number:]], DECODER, 0, heads())
    assert (checked.faults, checked.strangers) == ([], 2)


def test_a_head_is_genuine_only_as_it_was_signed() -> None:
    verifier = Verifier(SIGNER.public_key)
    [head, *_] = heads().values()
    assert verifier.genuine(head)
    for field, other in {
        "org_id": "x",
        "position": 999,
        "hash": "00",
        "ledger": "x",
        "signed_at": "2026-01-01T00:00:01Z",
    }.items():
        assert not verifier.genuine(msgspec.structs.replace(head, **{field: other})), field
    assert not verifier.genuine(msgspec.structs.replace(head, signature="no base64!"))
    assert not Verifier(Signer(base64.b64encode(b"x" * 32).decode()).public_key).genuine(head)


@pytest.mark.parametrize("seed", ["", "short", base64.b64encode(b"x" * 31).decode(), "!" * 44])
def test_a_bad_seed_is_refused_without_being_shown(seed: str) -> None:
    with pytest.raises(SettingsError, match="JOBLEDGER_SIGNING_KEY takes 32 bytes in base64") as refused:
        Signer(seed)
    assert not seed or seed not in str(refused.value)
