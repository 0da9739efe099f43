"""Whatever bytes lie on a topic, their readers say that it is no message, and never fail otherwise: for some seconds.

Events are fuzzed where they are compared with fastavro (`tests/unit/schemas/test_bytes.py`). FUZZ_EXAMPLES=100000 for
as long as one likes.
"""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.ledger.commands import PauseOrg
from services.ledger.wire import COMMANDS, DELIVERIES, REPLIES, TASKS, BadMessage, Codec

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "300"))
DEEP = 100_000  # lists within lists: a record of a tenth of what a broker takes
CODECS = (COMMANDS, REPLIES, TASKS, DELIVERIES)
WORD = COMMANDS.encode(PauseOrg(command_id="a", org_id="b"))
LENGTHS = (b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff")


def read(codec: Codec[Any], data: bytes) -> None:
    """Read bytes; that they are no message is fine."""
    try:
        codec.decode(data)
    except BadMessage:
        return


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_none(codec: Codec[Any], data: bytes) -> None:
    read(codec, data)
    read(codec, b"\x01" + data)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_a_damaged_command_is_a_command_or_none(data: st.DataObject) -> None:
    damaged = bytearray(WORD)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    read(COMMANDS, bytes(damaged))


def test_a_command_with_lists_within_lists_behind_it_is_none() -> None:
    longer = bytes((0x90 | (WORD[1] & 0x0F) + 1,))
    with pytest.raises(BadMessage):
        COMMANDS.decode(WORD[:1] + longer + WORD[2:] + b"\x91" * DEEP + b"\xc0")


@pytest.mark.parametrize("length", LENGTHS)
def test_a_length_that_is_not_there_takes_no_memory(length: bytes) -> None:
    for codec in CODECS:
        read(codec, b"\x01" + length)
        read(codec, b"\x01\x92\xa8PauseOrg" + length)
