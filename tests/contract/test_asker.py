"""What every Asker does: the real commander, with a decider that answers on a real broker, and its fake."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest

from services.ledger.commands import AnyCommand, CancelJob
from services.ledger.replies import Done, Drop, Refused, Reply
from services.runtime.commander import Asker, Commander
from services.runtime.errors import LedgerUnavailable
from services.runtime.settings import Settings
from tests.fakes.commander import Body, FakeCommander
from tests.fakes.decider import AnsweringDecider

ANSWERS: dict[str, Body] = {"good": Done(job_ids=("j-1",)), "bad": Refused(code="unknown_job", message="no such job")}


def answer(_partition: int, command: AnyCommand) -> Body | None:
    """Answer by the job id; None for every other."""
    return ANSWERS.get(command.job_id)


@dataclass
class Case:
    """An asker, what its decider has seen, and a way to make that decider speak unasked."""

    asker: Asker
    commands: list[tuple[int, AnyCommand]]
    say: Callable[[Body], None]


@pytest.fixture(params=["fake", "kafka"])
async def case(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    """One case per implementation."""
    if request.param == "fake":
        fake = FakeCommander(answer)
        yield Case(fake, fake.commands, fake.say)
        return
    settings: Settings = request.getfixturevalue("ledger")
    with AnsweringDecider(settings, answer) as decider:
        commander = Commander(settings, "contract")
        await commander.start()
        yield Case(commander, decider.commands, lambda body: decider.say(commander.boot_id, body))
        await commander.close()


def cancel(case: Case, job_id: str, command_id: str = "c-1") -> CancelJob:
    """Return some command of this case's asker."""
    return CancelJob(command_id=command_id, org_id="acme", job_id=job_id, requester=case.asker.boot_id)


async def test_an_ask_returns_the_reply_to_its_own_command(case: Case) -> None:
    good, bad = await asyncio.gather(
        case.asker.ask(1, cancel(case, "good", "c-1")), case.asker.ask(2, cancel(case, "bad", "c-2"))
    )
    assert (good.command_id, good.body) == ("c-1", ANSWERS["good"])
    assert (bad.command_id, bad.body) == ("c-2", ANSWERS["bad"])


async def test_an_ask_that_nobody_answers_ends_in_ledger_unavailable_naming_the_partition(case: Case) -> None:
    with pytest.raises(LedgerUnavailable, match="partition 3"):
        await case.asker.ask(3, cancel(case, "silent"), timeout=0.3)


async def test_a_command_that_names_another_requester_is_an_error_at_once(case: Case) -> None:
    with pytest.raises(ValueError, match="requester"):
        await case.asker.ask(0, CancelJob(command_id="c-1", job_id="good", requester="somebody-else"))


async def test_what_is_told_reaches_the_decider_of_that_partition(case: Case) -> None:
    told = cancel(case, "silent")
    await case.asker.tell(3, told)
    async with asyncio.timeout(10):
        while (3, told) not in case.commands:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_reply_that_nobody_asked_for_reaches_the_callback(case: Case) -> None:
    heard: asyncio.Queue[Reply] = asyncio.Queue()
    case.asker.on_unasked(heard.put_nowait)
    case.say(Drop(job_ids=("j-9",)))
    async with asyncio.timeout(10):
        reply = await heard.get()
    assert (reply.command_id, reply.body) == ("", Drop(job_ids=("j-9",)))
