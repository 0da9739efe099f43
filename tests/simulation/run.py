"""Runs one seed from start to quiet, and says what is wrong with what came of it."""

import asyncio
import contextlib
import dataclasses
import gc
import hashlib
import logging
from dataclasses import dataclass, field

from greenlet import getcurrent, greenlet

import projections.__main__ as projections_main
import projections.clickhouse.__main__ as clickhouse_main
import services.decider.__main__ as decider_main
import services.scheduler.__main__ as scheduler_main
import services.snapshotter.__main__ as snapshotter_main
import services.workers.__main__ as workers_main
import services.workers.modules.__main__ as modules_main
import services.writers.__main__ as writers_main
from services.ledger.policy import SECOND
from services.runtime.topics import DELIVERY_KINDS, deliveries, tasks
from tests.simulation import houses
from tests.simulation.check import Check
from tests.simulation.folds import LogBroken
from tests.simulation.life import WORLD
from tests.simulation.loop import Stuck
from tests.simulation.patches import simulated
from tests.simulation.streams import watch
from tests.simulation.unheard import Unheard
from tests.simulation.world import World

QUIET_SECONDS = 240.0  # after the storm, until everything has to be at rest
DECIDERS = 2
WORKERS = 2


@dataclass(slots=True)
class Result:
    """What came of one seed."""

    seed: int
    digest: str = ""
    wrong: list[str] = field(default_factory=list)
    trace: list[tuple[float, str]] = field(default_factory=list)  # simulated seconds, what happened
    seconds: float = 0.0
    steps: int = 0
    kills: int = 0
    jobs: int = 0
    events: int = 0


def simulate(seed: int, *, traced: bool = False) -> Result:
    """Run a seed; the same seed gives the same result."""
    gc.freeze()  # no collection need look at what is there for good; what knows the world comes later, and is freed
    gc.disable()
    try:
        result, unheard = _simulated(seed, traced)
    finally:
        gc.enable()
    gc.collect()  # frees what nobody holds any more: the loop tells of failures that nobody has heard of
    result.wrong += [f"nobody heard: {each}" for each in unheard.told]
    return result


def _simulated(seed: int, traced: bool) -> tuple[Result, Unheard]:
    result = Result(seed)
    clock: list[World] = []

    def say(text: str) -> None:
        if traced:
            result.trace.append((clock[0].loop.now if clock else 0.0, text))

    world = World(seed, say)
    clock.append(world)
    say(world.chaos.describe())
    WORLD.kept.clear()
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with simulated(world):
            check = Check(world)
            try:
                world.loop.run_until_complete(_live(world, check))
                result.wrong += check.verdict()
            except Stuck as stuck:
                result.wrong += [str(stuck), *check.verdict()]
            except LogBroken as broken:
                result.wrong.append(str(broken))
            _bury(world)
        if traced:
            result.trace += check.told()
            result.trace.sort(key=lambda line: line[0])
    finally:
        logging.disable(before)
    result.digest = _digest(world)
    result.seconds, result.steps, result.kills = world.loop.now, world.loop.steps, world.cluster.kills
    result.jobs, result.events = len(world.traffic.accepted), check.events
    return result, world.loop.unheard


async def _live(world: World, check: Check) -> None:
    _start(world, check)
    watching = asyncio.ensure_future(watch([world.group(topic) for topic in _topics(world)]))
    storm = asyncio.ensure_future(_storm(world))
    loop = world.loop
    await storm
    world.chaos.storm = False
    deadline = loop.time() + QUIET_SECONDS
    while not check.quiet() and loop.time() < deadline:  # noqa: ASYNC110  # time costs nothing here
        await asyncio.sleep(0.5)
    watching.cancel()
    world.cluster.over = True


def _topics(world: World) -> tuple[str, ...]:
    settings = world.settings
    kinds = ["workflow", *["module"] * world.modules.active, *["spider"] * world.spiders.active]
    return *(tasks(settings, kind) for kind in kinds), *(deliveries(settings, kind) for kind in DELIVERY_KINDS)


def _start(world: World, check: Check) -> None:
    cluster, settings = world.cluster, world.settings
    deciders = min(DECIDERS, settings.partitions)
    for number in range(deciders):
        own = dataclasses.replace(settings, instance=number, instances=deciders)
        cluster.add(f"decider-{number}", lambda own=own: decider_main.main(own), lambda: _off(world, 2.0))  # type: ignore[misc]
    for number in range(WORKERS):
        own = dataclasses.replace(settings, worker_id=f"w{number}")
        cluster.add(
            f"worker-{number}",
            lambda own=own: workers_main.main(own, lambda _settings, _credentials: world.site),  # type: ignore[misc,arg-type,return-value]
            lambda: _off(world, world.chaos.weather.skew_seconds),
        )
    for number in range(WORKERS if world.modules.active else 0):
        own = dataclasses.replace(settings, worker_id=f"m{number}")
        cluster.add(
            f"module-worker-{number}",
            lambda own=own: modules_main.main(own, lambda _settings, _credentials: world.site),  # type: ignore[misc,arg-type,return-value]
            lambda: _off(world, world.chaos.weather.skew_seconds),
        )
    for number in range(WORKERS if world.spiders.active else 0):
        own = dataclasses.replace(settings, worker_id=f"s{number}")
        cluster.add(
            f"spider-worker-{number}",
            lambda own=own: world.spiders.run(own, world.site),  # type: ignore[misc]
            lambda: _off(world, world.chaos.weather.skew_seconds),
        )
    kinds = ["postgres", "postgres", "webhook", "webhook", "clickhouse", "clickhouse"]
    for number, kind in enumerate(kinds + [houses.KIND] * (2 if world.houses.tables else 0)):
        own = dataclasses.replace(settings, worker_id=f"{kind}{number}", writer_kind=kind)
        cluster.add(f"writer-{kind}-{number}", lambda own=own: writers_main.main(own))  # type: ignore[misc]
    for number in range(2):  # one works, one stands by
        cluster.add(f"projection-{number}", lambda: projections_main.main(settings))
    cluster.add("projection-clickhouse", lambda: clickhouse_main.main(settings))
    cluster.add("snapshotter", lambda: snapshotter_main.main(settings))
    for number in range(2):  # at once, and neither knows of the other
        cluster.add(f"scheduler-{number}", lambda: scheduler_main.main(settings))
    cluster.add("historian", check.historian.run)
    cluster.add("api", world.traffic.run, mortal=False)


def _off(world: World, seconds: float) -> int:
    """Draw by how many microseconds the clock of a machine is off."""
    return int(world.random.uniform(-seconds, seconds) * SECOND)


async def _storm(world: World) -> None:
    """Let what is not bound to a call happen: pauses, outages, stops."""
    weather, random, cluster = world.chaos.weather, world.random, world.cluster
    names = [name for name in cluster.programs if name != "api"]
    acts = ["pause"] * weather.pauses + ["outage"] * weather.outages + ["stop"] * weather.stops
    times = sorted((random.uniform(0.0, weather.storm_seconds), act) for act in acts)
    for at, act in times:
        await asyncio.sleep(max(0.0, at - world.loop.time()))
        match act:
            case "pause":
                cluster.pause(random.choice(names), random.choice((0.5, 3.0, 12.0)))
            case "outage":
                world.broker.leave(random.choice((0.5, 5.0, 35.0)))
                cluster.say(f"broker away until {world.broker.up_again_at:.1f}")
            case _:
                cluster.stop(random.choice((*names, "worker-0", "worker-1")))
    await asyncio.sleep(max(0.0, weather.storm_seconds - world.loop.time()))


def _bury(world: World) -> None:
    """Let go of what is left, dead and alive, without letting it do anything more."""
    world.loop.bury()
    lives = [*world.cluster.lives, WORLD]
    for life in lives[:-1]:
        life.alive = False
    for thing in [thing for life in lives for thing in life.kept]:
        with contextlib.suppress(BaseException):
            if isinstance(thing, asyncio.Task):
                thing.get_coro().close()
            elif isinstance(thing, greenlet) and not thing.dead:
                thing.parent = getcurrent()
                thing.throw()
    for life in lives:
        life.kept.clear()


def _digest(world: World) -> str:
    digest = hashlib.sha256()
    for partition in world.broker.everything():
        for entry in partition.entries:
            digest.update(b"%d %d %b %b" % (entry.timestamp_ms, entry.readable, entry.key, entry.value))
    return digest.hexdigest()
