"""A broker that answers, falls silent, and answers again."""

import asyncio
import contextlib

from services.runtime.asking import keep_asking, stop_watching
from services.runtime.errors import BrokerFault
from services.runtime.health import Progress
from tests.eventually import eventually


async def test_a_broker_that_does_not_answer_turns_the_process_red_until_it_does() -> None:
    answers: list[BrokerFault | None] = [None, BrokerFault("silent"), None]
    progress, seen = Progress("broker"), []

    async def ask() -> None:
        seen.append(progress.state())
        if not answers:
            asyncio.current_task().cancel()  # type: ignore[union-attr]
            return
        answer = answers.pop(0)
        if answer:
            raise answer

    with contextlib.suppress(asyncio.CancelledError):
        await keep_asking(ask, progress, who="Kafka", every_seconds=0.0)
    assert [state["ready"] for state in seen] == [False, True, False, True]
    assert seen[2]["reason"] == "silent"


async def test_a_question_that_stays_open_is_told_and_its_late_answer_counts() -> None:
    progress, answer = Progress("broker"), asyncio.Event()

    async def ask() -> dict[str, object]:
        await answer.wait()
        return {"lag": 3}

    asking = asyncio.create_task(keep_asking(ask, progress, who="Kafka", every_seconds=60.0, patience_seconds=0.01))
    await eventually(lambda: progress.state().get("reason") == "Kafka does not answer")
    answer.set()
    await eventually(lambda: progress.state() == {"ready": True, "lag": 3})
    await stop_watching([asking])


async def test_an_error_of_somebody_elses_library_is_told_under_its_name() -> None:
    progress = Progress("postgres")

    async def ask() -> None:
        raise OSError("no route")

    asking = asyncio.create_task(keep_asking(ask, progress, who="Postgres", faults=(OSError,), every_seconds=60.0))
    await eventually(lambda: progress.state().get("reason") == "Postgres: no route")
    await stop_watching([asking])
