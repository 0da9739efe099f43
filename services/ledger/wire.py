"""Bytes of what processes say to each other beside events: commands, replies, tasks and deliveries.

A version byte, then msgpack: they are internal and short-lived, hence not Avro. A new field goes to the end and has a
default, so that old and new processes understand each other during an upgrade.
"""

from typing import Any, Generic, TypeVar

import msgspec

from services.ledger.commands import AnyCommand
from services.ledger.replies import Reply
from services.ledger.tasks import DeliveryBatch, Task

VERSION = b"\x01"
T = TypeVar("T")


class BadMessage(ValueError):
    """The bytes are no message of this kind; dead-letter them."""


class Codec(Generic[T]):
    """Encodes and decodes one kind of message."""

    def __init__(self, of: Any) -> None:
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(of).decode

    def encode(self, message: T) -> bytes:
        """Return the bytes of a message."""
        return VERSION + self._encode(message)

    def decode(self, data: bytes) -> T:
        """Return the message in these bytes, or raise BadMessage."""
        if data[:1] != VERSION:
            raise BadMessage(f"unknown message version {data[:1].hex() or 'none'}")
        try:
            return self._decode(memoryview(data)[1:])  # type: ignore[no-any-return]
        except (msgspec.DecodeError, msgspec.ValidationError, RecursionError) as error:  # the last: lists within lists
            raise BadMessage(str(error)) from error


COMMANDS: Codec[AnyCommand] = Codec(AnyCommand)
REPLIES: Codec[Reply] = Codec(Reply)
TASKS: Codec[Task] = Codec(Task)
DELIVERIES: Codec[DeliveryBatch] = Codec(DeliveryBatch)
