"""Reading for a limited time."""

import asyncio
import threading

import pytest

from services.workers.readers import PageTooHard, Readers, ReaderStuck


async def test_work_is_done_in_another_thread_and_its_result_comes_back() -> None:
    assert await Readers().read(threading.get_ident) != threading.get_ident()


async def test_an_error_of_the_work_is_raised() -> None:
    def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Readers().read(work)


async def test_work_that_does_not_end_is_given_up_and_calls_for_a_new_process() -> None:
    readers, end = Readers(0.01), threading.Event()
    try:
        with pytest.raises(PageTooHard):
            await readers.read(end.wait)
        with pytest.raises(ReaderStuck):
            await readers.stuck
    finally:
        end.set()


async def test_a_stuck_thread_is_noticed_also_when_its_job_was_cancelled() -> None:
    readers, end, begun = Readers(0.01), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(begun.set)
        end.wait()

    try:
        asked = asyncio.create_task(readers.read(work))
        await begun.wait()
        asked.cancel()
        async with asyncio.timeout(5):
            with pytest.raises(ReaderStuck):
                await readers.stuck
    finally:
        end.set()
