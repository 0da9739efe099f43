"""No failure is dropped without a word, and none is left to asyncio to complain about, also while a process leaves."""

import asyncio
import gc
import threading
from typing import Any

import pytest

from services.decider.__main__ import in_thread
from services.runtime import dead_letter
from services.runtime.dead_letter import DeadLetters, parking_from_threads
from services.runtime.errors import NotDelivered
from services.runtime.producer import Headers
from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.streams.app import raised
from tests.eventually import eventually

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="", topic_prefix="test")
SAID = "failed while the process was leaving"


@pytest.fixture
async def complaints() -> list[dict[str, Any]]:
    """What the loop of the test complains of, as it would do on stderr; what other tests left is freed before."""
    gc.collect()
    heard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: heard.append(context))
    return heard


async def _freed() -> None:
    """Free what nobody holds any more, which is when asyncio complains."""
    await asyncio.sleep(0)
    gc.collect()


async def test_a_fault_that_comes_after_its_group_has_ended_is_logged(
    complaints: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    fault: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(raised(fault))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    fault.set_exception(NotDelivered("a dead letter, too late"))
    await asyncio.sleep(0)
    del fault, waiting
    await _freed()
    assert [(each.message, str(each.exc_info and each.exc_info[1])) for each in caplog.records] == [
        (SAID, "a dead letter, too late")
    ]
    assert complaints == []


async def test_a_fault_that_somebody_waits_for_is_raised_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    fault: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(raised(fault))
    await asyncio.sleep(0)
    fault.set_exception(NotDelivered("in time"))
    with pytest.raises(NotDelivered, match="in time"):
        await waiting
    assert caplog.records == []


async def test_a_partition_that_fails_while_its_decider_stops_is_logged(
    complaints: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    begun, stopping = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        stopping.wait(10)
        raise NotDelivered("the last batch")

    owning = asyncio.create_task(in_thread(work, stopping))
    await asyncio.to_thread(begun.wait, 10)
    owning.cancel()
    await asyncio.wait({owning})
    assert owning.cancelled()
    del owning
    await _freed()
    assert [(each.message, str(each.exc_info and each.exc_info[1])) for each in caplog.records] == [
        (SAID, "the last batch")
    ]
    assert complaints == []


class SlowProducer:
    """A producer that fails a record only after it was told that nobody waits any more."""

    def __init__(self) -> None:
        self.over = False

    async def send(self, topic: str, partition: int, key: str, value: bytes, headers: Headers = ()) -> None:
        """Fail, late."""
        try:
            await asyncio.Event().wait()
        finally:
            self.over = True
            raise NotDelivered("broker away")


async def test_a_dead_letter_that_fails_as_it_is_given_up_is_raised_to_its_thread_and_no_complaint(
    complaints: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letter, "PARK_TIMEOUT_SECONDS", 0.02)
    producer = SlowProducer()
    park = parking_from_threads(DeadLetters(producer, SETTINGS), asyncio.get_running_loop())
    with pytest.raises(NotDelivered, match="broker away"):
        await asyncio.to_thread(park, Record("test.events", 0, 1, "acme", b"", [], 0), "bad_message", "")
    await eventually(lambda: producer.over)
    await _freed()
    assert complaints == []
