"""What writes and reads the bytes of events does what fastavro does, of which it is the faster way."""

import random
from enum import StrEnum
from typing import Any, get_args, get_origin

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from schemas import codec
from schemas.avro_of import field_hint, record_schema
from schemas.codec import Decoder, Encoder, NotAnEvent
from schemas.events import EVENT_TYPES
from schemas.examples import example
from schemas.recorded import Header, Recorded
from tests.versions import Writer, todays_schemas

NAMES = sorted(EVENT_TYPES)
IDS = {name: number for number, name in enumerate(NAMES)}
ENCODER, FASTAVRO = Encoder(IDS), Writer(todays_schemas(), IDS)
DECODER = Decoder(lambda number: record_schema(NAMES[number]))
NUMBERS = [0, 1, -1, 63, 64, -64, -65, 8191, 8192, 2**31, -(2**31) - 1, 2**62, 2**63 - 1, -(2**63)]
TEXTS = ["", "o", "acme", "ÄÖ☃𝄞", "x" * 63, "x" * 64, "long " * 4000]


def by_fastavro(data: bytes) -> Recorded:
    """Read an event as one of an earlier schema is read."""
    name, writer, _ = DECODER._writer_of(data)  # the way that is not taken for today's schema
    return codec._resolved(data, name, writer)


def value(plain: Any, notes: tuple[msgspec.Meta, ...], numbers: random.Random) -> Any:
    """Return some value of a field."""
    if plain is int:
        bounds = [(note.ge, note.le) for note in notes if note.ge is not None]
        return numbers.randint(*bounds[0]) if bounds else numbers.choice(NUMBERS)  # type: ignore[arg-type]
    if plain is str:
        return numbers.choice(TEXTS)
    if plain is bytes:
        return numbers.randbytes(numbers.choice([0, 1, 32, 63, 64, 9000]))
    if plain is float:
        return numbers.uniform(-1, 1)
    if plain is bool:
        return numbers.random() < 0.5
    if get_origin(plain) is tuple:
        return tuple(value(get_args(plain)[0], (), numbers) for _ in range(numbers.choice([0, 1, 3, 70])))
    if issubclass(plain, StrEnum):
        return numbers.choice(list(plain))
    return filled(plain, numbers)


def filled(cls: Any, numbers: random.Random, **given: Any) -> Any:
    """Return an instance of a class, its fields filled with some values."""
    return cls(**{name: value(*field_hint(cls, name), numbers) for name in cls.__struct_fields__} | given)


def some_event(name: str, seed: int) -> Recorded:
    """Return an event of a type with any values, which fit its schema and need make no sense."""
    numbers = random.Random(f"{name} {seed}")
    fixed: Any = {"opened_by": tuple(numbers.randbytes(16) for _ in range(seed % 4))} if name == "JobCompleted" else {}
    marks = {"event_id": numbers.randbytes(16), "prev_hash": numbers.randbytes(32), "event_type": name}
    return Recorded(filled(Header, numbers, **marks), filled(EVENT_TYPES[name], numbers, **fixed))


@pytest.mark.parametrize("name", NAMES)
def test_events_of_any_values_have_the_bytes_that_fastavro_writes_and_come_back(name: str) -> None:
    for recorded in (example(name), *(some_event(name, seed) for seed in range(4))):
        data = ENCODER.encode(recorded)
        assert data == FASTAVRO.encode(recorded)
        assert DECODER.decode(data) == recorded == by_fastavro(data)
        assert DECODER.claim(data) == codec.Claim(
            recorded.header.partition, recorded.header.position, recorded.event.org_id
        )


@pytest.mark.parametrize("name", NAMES)
def test_an_event_that_was_cut_off_or_has_bytes_behind_it_is_none(name: str) -> None:
    data = ENCODER.encode(example(name))
    for broken in (*(data[:end] for end in range(codec.FRAME.size, len(data))), data + b"\0"):
        for read in (DECODER.decode, DECODER.claim):
            with pytest.raises(NotAnEvent):
                read(broken)


@examples(max_examples=60)
@given(st.sampled_from(NAMES), st.randoms(use_true_random=False))
def test_a_damaged_event_is_read_as_fastavro_reads_it_or_refused(name: str, numbers: random.Random) -> None:
    data = bytearray(ENCODER.encode(some_event(name, 1)))
    for _ in range(numbers.choice([1, 1, 2, 5])):
        data[numbers.randrange(codec.FRAME.size, len(data))] = numbers.choice([0, 1, 2, 0x7F, 0x80, 0xFF])
    try:
        recorded = DECODER.decode(bytes(data))
    except NotAnEvent:
        with pytest.raises(NotAnEvent):
            DECODER.claim(bytes(data))
    else:
        assert recorded == by_fastavro(bytes(data))
        assert recorded is not None
        assert DECODER.claim(bytes(data)).position == recorded.header.position


def test_a_number_out_of_its_bounds_is_refused() -> None:
    submitted = example("JobSubmitted")
    far = msgspec.structs.replace(submitted.event.destinations[0], gate_seconds=-1)  # type: ignore[union-attr]
    data = ENCODER.encode(Recorded(submitted.header, msgspec.structs.replace(submitted.event, destinations=(far,))))
    for read in (DECODER.decode, DECODER.claim):
        with pytest.raises(NotAnEvent):
            read(data)


def test_a_number_of_more_than_ten_bytes_is_refused_where_it_could_have_ended() -> None:
    data = ENCODER.encode(example("JobClaimed"))
    at = codec.FRAME.size + 16 + 1 + len("JobClaimed")  # of `seq`, behind id and type
    number = data[at]
    assert 0 < number < 0x80
    longer = {filler: bytes((number | 0x80, *(0x80,) * filler, 0)) for filler in (8, 9, 100)}
    assert DECODER.decode(data[:at] + longer[8] + data[at + 1 :]) == example("JobClaimed")
    for filler in (9, 100):
        for read in (DECODER.decode, DECODER.claim):
            with pytest.raises(NotAnEvent):
                read(data[:at] + longer[filler] + data[at + 1 :])


@pytest.mark.parametrize(
    "changes", [{"event_id": bytes(15)}, {"prev_hash": bytes(33)}, {"cause": 2**63}, {"seq": -(2**63) - 1}]
)
def test_what_no_reader_could_read_is_not_written(changes: dict[str, Any]) -> None:
    recorded = example("JobClaimed")
    header = msgspec.structs.replace(recorded.header, **changes)
    with pytest.raises(ValueError, match=r"belong|does not fit"):
        ENCODER.encode(Recorded(header, recorded.event))
