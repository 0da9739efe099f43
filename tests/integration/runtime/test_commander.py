"""Asking survives lost replies, slow deciders, closing and cancelling, by the thousand."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from services.ledger.commands import AnyCommand, CancelJob
from services.ledger.replies import Done, Drop, Reply
from services.runtime.commander import Commander
from services.runtime.errors import LedgerUnavailable, LogGap, RuntimeFault
from services.runtime.reader import LogReader
from services.runtime.settings import Settings
from services.runtime.topics import replies, reply_partition
from tests.fakes.commander import Body
from tests.fakes.decider import AnsweringDecider

DEADLINE_SECONDS = 20.0


@pytest.fixture
async def commander(ledger: Settings) -> AsyncIterator[Commander]:
    commander = Commander(ledger, "test")
    await commander.start()
    yield commander
    await commander.close()


def command(commander: Commander, number: int = 0) -> CancelJob:
    """Return some command."""
    return CancelJob(command_id=f"c-{number}", org_id="acme", job_id=f"j-{number}", requester=commander.boot_id)


def done(_partition: int, asked: AnyCommand) -> Body:
    """Answer with the job's id."""
    return Done(job_ids=(asked.job_id,))


async def test_thousands_ask_at_once_and_each_gets_its_own_reply(ledger: Settings, commander: Commander) -> None:
    with AnsweringDecider(ledger, done):
        answers = await asyncio.gather(*(commander.ask(n % 4, command(commander, n)) for n in range(5000)))
    assert [answer.body for answer in answers] == [Done(job_ids=(f"j-{n}",)) for n in range(5000)]
    assert commander._asked == {}


async def test_a_lost_reply_is_made_good_by_asking_again(ledger: Settings, commander: Commander) -> None:
    seen: list[str] = []

    def second_time(partition: int, asked: AnyCommand) -> Body | None:
        seen.append(asked.command_id)
        return done(partition, asked) if len(seen) > 1 else None

    with AnsweringDecider(ledger, second_time):
        reply = await commander.ask(0, command(commander), timeout=6)
    assert reply.body == Done(job_ids=("j-0",))
    assert seen == ["c-0", "c-0"]


async def test_a_decider_that_starts_late_still_answers(ledger: Settings, commander: Commander) -> None:
    asking = asyncio.create_task(commander.ask(0, command(commander), timeout=DEADLINE_SECONDS))
    await commander.tell(1, command(commander, 1))
    with AnsweringDecider(ledger, done):
        assert (await asking).body == Done(job_ids=("j-0",))


async def test_a_reply_that_comes_twice_or_late_disturbs_nobody(ledger: Settings, commander: Commander) -> None:
    with AnsweringDecider(ledger, done) as decider:
        await commander.ask(0, command(commander, 1))
        decider.reply(Reply(command_id="c-1", requester=commander.boot_id, body=Done()))
        decider.reply(Reply(command_id="never-asked", requester=commander.boot_id, body=Done()))
        assert (await commander.ask(0, command(commander, 2))).body == Done(job_ids=("j-2",))


async def test_the_same_command_asked_twice_at_once_answers_both(ledger: Settings, commander: Commander) -> None:
    with AnsweringDecider(ledger, done):
        one, other = await asyncio.gather(*(commander.ask(0, command(commander)) for _ in range(2)))
    assert one.body == other.body == Done(job_ids=("j-0",))
    assert commander._asked == {}


async def test_without_a_decider_an_ask_ends_at_its_timeout_and_leaves_nothing(commander: Commander) -> None:
    began = time.monotonic()
    with pytest.raises(LedgerUnavailable, match=r"partition 2 did not answer command c-0 within 0.6 s"):
        await commander.ask(2, command(commander), timeout=0.6)
    assert 0.5 < time.monotonic() - began < 5
    assert commander._asked == {}


async def test_a_cancelled_ask_leaves_nothing_and_others_go_on(ledger: Settings, commander: Commander) -> None:
    cancelled = asyncio.create_task(commander.ask(0, command(commander, 1)))
    await commander.tell(0, command(commander, 9))
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert commander._asked == {}
    with AnsweringDecider(ledger, done):
        assert (await commander.ask(0, command(commander, 2))).body == Done(job_ids=("j-2",))


async def test_closing_ends_the_asks_that_are_open_and_refuses_new_ones(ledger: Settings) -> None:
    commander = Commander(ledger, "test")
    await commander.start()
    asking = [asyncio.create_task(commander.ask(0, command(commander, n))) for n in range(3)]
    await commander.tell(0, command(commander, 9))
    waiting = asyncio.create_task(commander.wait())
    await asyncio.sleep(0)
    async with asyncio.timeout(DEADLINE_SECONDS):
        await commander.close()
        for ask in asking:
            with pytest.raises(LedgerUnavailable, match="closed"):
                await ask
        await waiting
    with pytest.raises(LedgerUnavailable, match="closed"):
        await commander.ask(0, command(commander))
    with pytest.raises(RuntimeFault, match="closed"):
        await commander.tell(0, command(commander))


async def test_a_commander_that_was_never_started_can_be_closed(ledger: Settings) -> None:
    await Commander(ledger, "test").close()


async def test_each_start_has_its_own_boot_id(ledger: Settings) -> None:
    assert Commander(ledger, "test").boot_id != Commander(ledger, "test").boot_id


async def test_replies_to_others_on_the_same_partition_are_not_heard(ledger: Settings, commander: Commander) -> None:
    heard: asyncio.Queue[Reply] = asyncio.Queue()
    commander.on_unasked(heard.put_nowait)
    with AnsweringDecider(ledger, done) as decider:
        stranger = next(n for n in map(str, range(1000)) if reply_partition(n) == reply_partition(commander.boot_id))
        decider.say(stranger, Drop(job_ids=("theirs",)))
        decider.say(commander.boot_id, Drop(job_ids=("ours",)))
        async with asyncio.timeout(DEADLINE_SECONDS):
            assert (await heard.get()).body == Drop(job_ids=("ours",))
    assert heard.empty()


@pytest.mark.kafka
async def test_replies_from_before_the_start_are_not_heard(ledger: Settings) -> None:
    commander = Commander(ledger, "test")
    heard: asyncio.Queue[Reply] = asyncio.Queue()
    commander.on_unasked(heard.put_nowait)
    with AnsweringDecider(ledger, done) as decider:
        decider.say(commander.boot_id, Drop(job_ids=("before",)))
        decider._producer.flush()
        await commander.start()
        decider.say(commander.boot_id, Drop(job_ids=("after",)))
        async with asyncio.timeout(DEADLINE_SECONDS):
            assert (await heard.get()).body == Drop(job_ids=("after",))
    await commander.close()


async def test_a_callback_that_fails_ends_the_commander_loudly(ledger: Settings) -> None:
    commander = Commander(ledger, "test")
    await commander.start()

    def fail(_reply: Reply) -> None:
        raise ValueError("callback is broken")

    commander.on_unasked(fail)
    with AnsweringDecider(ledger, done) as decider:
        asking = asyncio.create_task(commander.ask(0, CancelJob(command_id="x", requester=commander.boot_id)))
        decider.say(commander.boot_id, Drop())
        with pytest.raises(ValueError, match="callback is broken"):
            async with asyncio.timeout(DEADLINE_SECONDS):
                await commander.wait()
        await asyncio.gather(asking, return_exceptions=True)
        with pytest.raises(ValueError, match="callback is broken"):
            await commander.ask(0, command(commander))
    await commander.close()


@pytest.mark.kafka
async def test_a_gap_in_the_replies_ends_open_asks_with_it(ledger: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    commander = Commander(ledger, "test")
    reader = LogReader(ledger, replies(ledger), {reply_partition(commander.boot_id): 99_999})
    monkeypatch.setattr(commander, "_open", lambda: reader)
    await commander.start()
    with pytest.raises(LogGap, match="offset 99999"):
        async with asyncio.timeout(DEADLINE_SECONDS):
            await commander.wait()
    with pytest.raises(LogGap):
        await commander.ask(0, command(commander))
    await commander.close()
