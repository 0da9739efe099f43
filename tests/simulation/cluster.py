"""The processes of the ledger: started, killed, stopped, paused and started again."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from services.runtime.errors import BlobFault, BrokerFault, LedgerUnavailable
from services.runtime.process import STOP_SECONDS
from tests.simulation.chaos import Chaos
from tests.simulation.life import CURRENT, WORLD, Life, as_the_world
from tests.simulation.loop import VirtualLoop

# What may end a process that is well written: its surroundings failed in a way that it does not outlive by design.
HARMLESS = (BrokerFault, LedgerUnavailable, BlobFault, asyncio.CancelledError)
Say = Callable[[str], None]


@dataclass(slots=True)
class Program:
    """What is run, and its newest run."""

    name: str
    main: Callable[[], Awaitable[None]]
    life: Life = WORLD
    task: "asyncio.Task[None] | None" = None
    runs: int = 0
    skew: Callable[[], int] = lambda: 0  # microseconds by which the clock of its machine is off
    mortal: bool = True


@dataclass(slots=True)
class Cluster:
    """Programs under supervision."""

    loop: VirtualLoop
    chaos: Chaos
    say: Say
    programs: dict[str, Program] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)  # ends of processes that have no excuse
    lives: list[Life] = field(default_factory=list)
    kills: int = 0
    over: bool = False

    def add(
        self,
        name: str,
        main: Callable[[], Awaitable[None]],
        skew: Callable[[], int] = lambda: 0,
        *,
        mortal: bool = True,
    ) -> None:
        """Start a program and keep it running; one that is not mortal is never killed."""
        program = self.programs[name] = Program(name, main, skew=skew, mortal=mortal)
        self._start(program)

    def fate(self, life: Life) -> bool:
        """Count a step of a process, and kill it where its steps are used up."""
        if life.steps_left < 0:
            return False
        life.steps_left -= 1
        if life.steps_left >= 0 or not self.chaos.storm:
            return False
        self.say(f"{life} killed")
        self.kills += 1
        life.killed = True
        self.end(life)
        return True

    def end(self, life: Life) -> None:
        """Take a process away where it stands, and start its program again after a while."""
        if not life.alive:
            return
        self.loop.kill(life)
        life.ended_at = self.loop.time()
        program = self.programs[life.name]
        if not self.over:
            pause = self.chaos.random.uniform(0.02, 2.0)
            as_the_world(lambda: self.loop.call_later(pause, self._start, program))

    def stop(self, name: str) -> None:
        """Tell a process to stop, and kill it when it takes too long."""
        program = self.programs[name]
        if program.task and program.life.alive:
            self.say(f"{program.life} told to stop")
            program.life.disturbed = True
            program.life.pauses.append((self.loop.time(), float("inf")))
            program.task.cancel()
            as_the_world(lambda: self.loop.call_later(STOP_SECONDS, self.end, program.life))

    def pause(self, name: str, seconds: float) -> None:
        """Let a process stand still for a while."""
        life = self.programs[name].life
        life.disturbed = True
        life.paused_until = self.loop.time() + seconds
        life.pauses.append((self.loop.time(), life.paused_until))
        self.say(f"{life} paused for {seconds:.1f} s")

    def _start(self, program: Program) -> None:
        if self.over:
            return
        program.runs += 1
        life = program.life = Life(program.name, program.runs, program.skew())
        life.steps_left = self.chaos.steps_to_live() if program.mortal else -1
        self.lives.append(life)
        self.say(f"{life} started")
        context = contextvars.copy_context()
        context.run(CURRENT.set, life)
        program.task = self.loop.create_task(program.main(), context=context)  # type: ignore[arg-type]
        as_the_world(lambda: program.task.add_done_callback(lambda task: self._ended(life, task)))  # type: ignore[union-attr]

    def _ended(self, life: Life, task: "asyncio.Task[None]") -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        self.say(f"{life} left: {error!r}")
        for reason in _leaves(error) if error else ():
            if not isinstance(reason, HARMLESS):
                self.faults.append(f"{life} fell: {type(reason).__name__}: {reason}")
        self.end(life)


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in _leaves(each)]
    return [error]
