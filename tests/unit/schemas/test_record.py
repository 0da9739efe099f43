"""What a message of the Kafka client is as a record."""

from typing import Any

from confluent_kafka import Message

from schemas.record import Record, record_of


def message(**more: Any) -> Any:
    return Message(topic="t", partition=3, offset=7, timestamp=(1, 99), **more)


def test_headers_are_those_of_the_message_and_one_without_a_value_is_empty() -> None:
    whole = [("a", b"1"), ("b", b"2")]
    assert record_of("t", message(key=b"acme", value=b"v", headers=whole)) == Record("t", 3, 7, "acme", b"v", whole, 99)
    holes = record_of("t", message(key=b"acme", value=b"v", headers=[("a", None), ("b", b"2")]))
    assert holes.headers == [("a", b""), ("b", b"2")]


def test_what_a_message_does_not_have_is_empty() -> None:
    assert record_of("t", message()) == Record("t", 3, 7, "", b"", [], 99)
