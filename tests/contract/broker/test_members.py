"""What the agents of workers and writers are given: by Faust in a group, and by the group of the simulation.

How a group is dealt, and how long that takes, is not the same. What is handed out, kept back and committed is.
"""

from contextlib import AsyncExitStack

from services.runtime.topics import tasks
from tests.contract.broker.brokers import AnyBroker
from tests.contract.broker.clients import SECONDS, commit, plain, transactional, write
from tests.eventually import eventually
from tests.integration.streams.taking import KIND, Taking

WAIT_SECONDS = 60.0


def test_a_member_gets_what_is_committed_and_nothing_else_and_commits_what_is_done(broker: AnyBroker) -> None:
    topic = broker.create(tasks(broker.settings, KIND))

    async def scenario() -> None:
        one = await broker.call(lambda: transactional(broker, 0))
        other = await broker.call(lambda: transactional(broker, 1))
        await broker.call(lambda: write(one, topic, b"aborted"))
        one = await broker.call(lambda: transactional(broker, 0))
        await broker.call(lambda: commit(one, topic, b"1", b"2"))
        taking = Taking()
        async with broker.member(taking):
            await eventually(lambda: taking.values() == [b"1", b"2"], WAIT_SECONDS)
            await broker.call(lambda: write(one, topic, b"3"))
            await broker.call(lambda: commit(other, topic, b"behind"))
            await broker.call(lambda: commit(other, topic, b"there", partition=1))
            await eventually(lambda: b"there" in taking.values(), WAIT_SECONDS)
            assert taking.values() == [b"1", b"2", b"there"]
            await broker.call(lambda: one.commit_transaction(SECONDS))
            await eventually(lambda: taking.values()[3:] == [b"3", b"behind"], WAIT_SECONDS)
            behind = max(offset for partition, offset, _ in taking.taken if partition == 0)
        assert await broker.call(lambda: broker.committed(0)) in (behind + 1, behind + 2)  # or behind its marker

    broker.run(scenario())


def test_what_a_member_has_not_finished_is_given_to_the_next_with_all_behind_it(broker: AnyBroker) -> None:
    topic = broker.create(tasks(broker.settings, KIND))

    async def scenario() -> None:
        writer = await broker.call(lambda: transactional(broker))
        await broker.call(lambda: commit(writer, topic, *[b"%d" % number for number in range(8)]))
        first = Taking(hold=lambda record: record.value == b"4")
        async with broker.member(first):
            await eventually(lambda: len(first.taken) == 8, WAIT_SECONDS)
        assert await broker.call(lambda: broker.committed(0)) == 4
        second = Taking()
        async with broker.member(second):
            await eventually(lambda: len(second.taken) == 4, WAIT_SECONDS)
        assert second.values() == [b"4", b"5", b"6", b"7"]

    broker.run(scenario())


def test_two_members_share_the_partitions_and_the_one_that_stays_gets_those_of_the_other(broker: AnyBroker) -> None:
    topic = broker.create(tasks(broker.settings, KIND))

    async def scenario() -> None:
        sender = await broker.call(lambda: plain(broker))
        stays, leaves = Taking(), Taking()
        sent: list[bytes] = []

        async def send() -> None:
            for partition in (0, 1):
                sent.append(b"%d" % len(sent))
                await broker.call(lambda value=sent[-1], at=partition: sender.produce(topic, value, "k", at))  # type: ignore[misc]
            await broker.call(lambda: sender.poll(0.2))

        async def shared() -> bool:
            await send()
            return bool(stays.taken and leaves.taken)

        async with AsyncExitStack() as members:
            await members.enter_async_context(broker.member(stays))
            async with broker.member(leaves):
                await eventually(shared, WAIT_SECONDS)
            left = len(leaves.taken)
            await send()
            await eventually(lambda: {*stays.values(), *leaves.values()} == {*sent}, WAIT_SECONDS)
            assert {partition for partition, _, value in stays.taken if value in sent[-2:]} == {0, 1}
            assert len(leaves.taken) == left

    broker.run(scenario())
