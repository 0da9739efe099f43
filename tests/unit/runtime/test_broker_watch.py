"""A broker that answers, falls silent, and answers again."""

import asyncio
import contextlib

from services.runtime.broker_watch import keep_asking
from services.runtime.errors import BrokerFault
from services.runtime.health import Progress


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
        await keep_asking(ask, progress, 0.0)
    assert [state["ready"] for state in seen] == [False, True, False, True]
    assert seen[2]["reason"] == "silent"
