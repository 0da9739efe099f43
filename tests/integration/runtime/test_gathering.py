"""A reader that gathers asks the broker for more when all that it has is taken, counted by librdkafka."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from services.runtime import reader
from services.runtime.producer import Producer
from services.runtime.reader import LogReader
from services.runtime.settings import Settings
from services.runtime.topics import commands

RECORDS = 30


def fetches_while_records_come(
    settings: Settings, producer: Producer, monkeypatch: pytest.MonkeyPatch, **made: bool
) -> int:
    """Let records come one by one while a reader that has one takes none; return how often the broker was asked."""
    asked: list[int] = []

    def noted(text: str) -> None:
        asked.append(sum(broker["req"].get("Fetch", 0) for broker in json.loads(text)["brokers"].values()))

    config: Callable[[Settings], dict[str, Any]] = reader._config
    monkeypatch.setattr(reader, "_config", lambda of: config(of) | {"statistics.interval.ms": 100, "stats_cb": noted})
    log = LogReader(settings, commands(settings), {0: 0}, **made)
    monkeypatch.setattr(reader, "_config", config)
    try:
        _send(settings, producer)
        while not log.poll(1, 1.0):
            pass
        for _ in range(RECORDS):
            _send(settings, producer)
        got = 0
        while got < RECORDS:
            got += len(log.poll(RECORDS, 1.0))
        told = len(asked)
        while len(asked) < told + 2:  # the next but one was made after all that
            log.poll(1, 0.1)
        return asked[-1]
    finally:
        log.close()


def _send(settings: Settings, producer: Producer) -> None:
    producer.produce(commands(settings), 0, "org", b"command")
    producer.flush()


def test_what_comes_while_nothing_is_taken_is_asked_for_at_once(
    ledger: Settings, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fetches_while_records_come(ledger, producer, monkeypatch, gathering=True) < RECORDS // 2
