"""A consumer group as Faust runs it for workers and writers, without Faust: records, acks, commits, rebalances.

The agent's code is ours and runs as it is (`services.streams.app.consume`); what is simulated is what it stands on.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from types import SimpleNamespace
from typing import Any

from services.streams.app import BUFFERED_RECORDS, COMMIT_SECONDS, SESSION_SECONDS, Handle, consume
from services.streams.watch import Taking
from tests.simulation.broker import Broker
from tests.simulation.chaos import Chaos
from tests.simulation.fibers import Signal
from tests.simulation.life import Life, current

LOOK_SECONDS = 1.0  # between two looks of the coordinator at its members
NEWS_SECONDS = 30.0  # that a member waits where nothing tells it of anything new


class Group:
    """Deals the partitions of one topic to the members that live; a member that stands still is left out."""

    def __init__(self, broker: Broker, topic: str, loop: asyncio.AbstractEventLoop) -> None:
        self.generation = 0
        self.dealt = Signal()
        self.committed = dict.fromkeys(broker.partitions(topic), 0)
        self._members: dict[Life, list[int]] = {}
        self._broker, self._chaos, self._loop = broker, broker.chaos, loop

    def look(self) -> None:
        """Miss the members that are gone."""
        late = self._loop.time() + SESSION_SECONDS
        gone = [life for life in self._members if not life.alive or life.paused_until > late]
        for life in gone:
            del self._members[life]
        if gone or (self._members and self._chaos.strikes("rebalance")):
            self._deal()

    def join(self, life: Life) -> None:
        """Take a member in."""
        self._members[life] = []
        self._deal()

    def leave(self, life: Life) -> None:
        """Let a member go."""
        if self._members.pop(life, None) is not None:
            self._deal()

    def share(self, life: Life) -> list[int] | None:
        """Return the partitions of a member; None: it is no member any more."""
        return self._members.get(life)

    def commit(self, life: Life, generation: int, offsets: dict[int, int]) -> bool:
        """Remember how far a member came; refused where the group has been dealt again since."""
        if generation != self.generation or life not in self._members or self._broker.down:
            return False
        self.committed |= offsets
        return True

    def _deal(self) -> None:
        self.generation += 1
        members = list(self._members)
        for number in self._members:
            self._members[number] = []
        for place, partition in enumerate(self.committed):
            if members:
                self._members[members[place % len(members)]].append(partition)
        self.dealt.set()


async def watch(groups: Sequence[Group]) -> None:
    """Let the coordinator look after the members of groups, until cancelled."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        for group in groups:
            group.look()


class StreamApp:
    """One member of a group, with its agent; has what `services.streams.app` asks of a Faust app."""

    crash_reason: BaseException | None = None

    def __init__(
        self,
        broker: Broker,
        group: Group,
        topic: str,
        handle: Handle,
        fault: asyncio.Future[None],
        taking: Taking,
        chaos: Chaos,
    ) -> None:
        self._broker, self._group, self._topic, self._chaos = broker, group, topic, chaos
        self._handle, self._fault, self._taking = handle, fault, taking
        self._life = current()
        self._generation = -1
        self._acked: dict[int, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._to_commit = asyncio.Event()
        self._stopped = asyncio.Event()

    async def start(self) -> None:
        """Join the group and let the agent run."""
        self._group.join(self._life)
        self._tasks = [
            asyncio.create_task(consume(self, self._handle, self._fault, self._taking)),
            asyncio.create_task(self._commits()),
        ]

    async def stop(self) -> None:
        """Commit what is acked, and leave the group."""
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        self._commit()
        self._group.leave(self._life)
        self._stopped.set()

    async def wait_until_stopped(self) -> None:
        """Wait for the stop."""
        await self._stopped.wait()

    def noack(self) -> "StreamApp":
        """Leave the acks to the agent."""
        return self

    async def events(self) -> AsyncIterator[Any]:
        """Hand out the records of this member's partitions, as fetched."""
        while True:
            self._rejoin()
            fetched, generation = self._fetch(), self._generation
            if not fetched:
                await self._news()
                continue
            await asyncio.sleep(self._chaos.latency())
            for partition, offset in fetched:
                if self._group.generation != generation and not self._chaos.strikes("stale_buffer"):
                    break  # what was fetched before a rebalance is thrown away, mostly
                yield SimpleNamespace(
                    message=self._message(partition, offset), ack=self._ack(partition, offset, generation)
                )

    def _rejoin(self) -> None:
        if self._group.share(self._life) is None:
            self._group.join(self._life)
        if self._generation != self._group.generation:
            self._generation = self._group.generation
            self._acked = {}
            self._next = {number: self._group.committed[number] for number in self._group.share(self._life) or ()}

    def _fetch(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for number, at in self._next.items():
            partition = self._broker.partition(self._topic, number)
            end = 0 if self._broker.down else partition.stable_end
            while at < end and len(found) < BUFFERED_RECORDS:
                if partition.entries[at].readable:
                    found.append((number, at))
                at += 1
            self._next[number] = at
        return found

    async def _news(self) -> None:
        changed = Signal()
        self._group.dealt.tell(changed)
        for number in self._next:
            self._broker.partition(self._topic, number).changed.tell(changed)
        await changed.heard(1.0 if self._broker.down else NEWS_SECONDS)

    def _message(self, number: int, offset: int) -> Any:
        entry = self._broker.partition(self._topic, number).entries[offset]
        return SimpleNamespace(
            topic=self._topic,
            partition=number,
            offset=offset,
            key=entry.key,
            value=entry.value,
            headers=entry.headers,
            timestamp=entry.timestamp_ms / 1000,
        )

    def _ack(self, number: int, offset: int, generation: int) -> Callable[[], bool]:
        def ack() -> bool:
            if generation != self._group.generation or generation != self._generation:
                return False
            self._acked[number] = offset + 1
            self._to_commit.set()
            return True

        return ack

    async def _commits(self) -> None:
        while True:
            await self._to_commit.wait()
            await asyncio.sleep(COMMIT_SECONDS - asyncio.get_running_loop().time() % COMMIT_SECONDS)
            self._commit()
            if not self._acked:
                self._to_commit.clear()

    def _commit(self) -> None:
        self._life.check()
        if self._acked and self._group.commit(self._life, self._generation, self._acked):
            self._acked = {}
