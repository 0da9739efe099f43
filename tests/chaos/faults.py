"""What breaks, and when: drawn from the seed before anything runs, printed, then done by the clock."""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from services.localstack.identity import Identity, is_alive
from tests.chaos.cluster import BROKERS, Cluster, every_service, in_sync

Act = Literal["kill", "freeze", "stop"]
Lane = Literal["services", "stores", "brokers"]
SERVICE_SECONDS = 5.0  # between two faults of services, on average
STORE_SECONDS = 30.0
BROKER_SECONDS = 35.0
FROZEN_SECONDS = (1.0, 4.0, 9.0, 20.0)  # the last two outlive a transaction; the last one a lease and a session
AT_ONCE = (1, 1, 1, 1, 1, 2, 3)
IN_SYNC_SECONDS = 90.0  # that a fault of a broker waits for the other brokers to be well
LOOK_SECONDS = 1.0
Tell = Callable[[str], None]
BROKER_NAMES = tuple(f"broker-{number}" for number in range(1, BROKERS + 1))


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that happens to processes; `at` and `seconds` are in seconds, the latter that they stand still."""

    at: float
    lane: Lane
    act: Act
    targets: tuple[str, ...]
    seconds: float = 0.0

    def __str__(self) -> str:
        length = f" for {self.seconds:g} s" if self.seconds else ""
        return f"{self.at:6.1f} s  {self.act} {', '.join(self.targets)}{length}"


def schedule(seed: int, seconds: float) -> list[Fault]:
    """Return what breaks within so many seconds; the same seed breaks the same."""
    random = Random(f"faults {seed}")
    services = [service.name for service in every_service()] + ["registry"]
    faults = [
        *_lane(random, "services", seconds, SERVICE_SECONDS, services, AT_ONCE),
        *_lane(random, "stores", seconds, STORE_SECONDS, ("postgres", "clickhouse"), (1,)),
        # Two brokers at once are an outage: nothing can be written until one of them is back.
        *_lane(random, "brokers", seconds, BROKER_SECONDS, BROKER_NAMES, (1, 1, 1, 1, 1, 2)),
    ]
    return sorted(faults, key=lambda fault: fault.at)


def _lane(
    random: Random, lane: Lane, seconds: float, pause: float, names: Sequence[str], at_once: Sequence[int]
) -> list[Fault]:
    faults = []
    at = random.uniform(0.2, 1.0) * pause
    while at < seconds:
        targets = tuple(random.sample(names, random.choice(at_once)))
        act: Act = random.choices(("kill", "freeze", "stop"), (6, 4, 1))[0]
        if targets == ("postgres",) and act == "freeze":  # its processes are many; one of them frozen is none of it
            act = "kill"
        frozen = random.choice(FROZEN_SECONDS) if act == "freeze" else 0.0
        faults.append(Fault(round(at, 1), lane, act, targets, frozen))
        at += random.uniform(0.5, 1.5) * pause
    return faults


@dataclass(slots=True)
class Breaker:
    """Does what the schedule says; `done` counts by act and target, `missed` what could not be done."""

    cluster: Cluster
    tell: Tell
    done: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    _frozen: dict[Identity, str] = field(default_factory=dict)

    async def run(self, faults: Sequence[Fault]) -> None:
        """Return when the last one is over and nothing stands still any more."""
        began = time.monotonic()
        lanes = {fault.lane for fault in faults}
        try:
            async with asyncio.TaskGroup() as group:
                for lane in lanes:
                    group.create_task(self._lane([each for each in faults if each.lane == lane], began))
        finally:
            for identity in list(self._frozen):
                self._thaw(identity)

    async def _lane(self, faults: Sequence[Fault], began: float) -> None:
        async with asyncio.TaskGroup() as group:
            for fault in faults:
                await asyncio.sleep(max(0.0, began + fault.at - time.monotonic()))
                if fault.lane == "brokers":
                    # One at a time is what a ledger with min.insync.replicas 2 has to survive without a word.
                    if not await self._within(IN_SYNC_SECONDS, lambda: asyncio.to_thread(in_sync, self.cluster)):
                        self.missed[f"{fault.act} broker: another was not back"] += 1
                        continue
                    await self._do(fault)
                else:
                    group.create_task(self._do(fault))

    async def _do(self, fault: Fault) -> None:
        self.tell(f"fault {fault}")
        running = self.cluster.running()
        hit = [(name, running[name]) for name in fault.targets if name in running and is_alive(running[name])]
        for name in set(fault.targets) - {name for name, _ in hit}:
            self.missed[f"{fault.act} {name}: it was down already"] += 1
        for name, identity in hit:
            self._strike(fault.act, name, identity)
        if fault.act == "freeze":
            await asyncio.sleep(fault.seconds)
            for _, identity in hit:
                self._thaw(identity)

    def _strike(self, act: Act, name: str, identity: Identity) -> None:
        match act:
            case "kill":
                _send(identity, signal.SIGKILL)
            case "freeze":
                self._frozen[identity] = name
                _send(identity, signal.SIGSTOP)
            case "stop":
                _send(identity, signal.SIGINT if name == "postgres" else signal.SIGTERM)
        self.done[f"{act} {name}"] += 1

    def _thaw(self, identity: Identity) -> None:
        if self._frozen.pop(identity, None):
            _send(identity, signal.SIGCONT)

    async def _within(self, seconds: float, condition: Callable[[], Awaitable[bool]]) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if await condition():
                return True
            await asyncio.sleep(LOOK_SECONDS)
        return False


def _send(identity: Identity, number: signal.Signals) -> None:
    """Send to this very process: a later one may have its pid."""
    if is_alive(identity):
        try:
            os.kill(identity.pid, number)
        except ProcessLookupError:
            return
