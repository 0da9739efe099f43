"""The part of docs/performance.md about other systems."""

from collections.abc import Iterator, Mapping

import msgspec

from bench.peers.figures import Compared, Figures, Speed, Spread
from bench.tables import table

COMMANDS, EVENTS, TRANSACTIONS = "commands decided", "events", "Kafka transactions"  # of `bench/operations.py`
HOW = """\
Every system keeps {in_flight} jobs in flight (submitted and not done) with {workers} worker processes, on the same
cores as its servers and as the process that submits and counts. {rounds} rounds of {seconds:g} s each; in a round
everything is started, measured and stopped one after the other, and every other round goes backwards. A ratio compares
within a round; shown are the median and, in brackets, the least and the most. Before the run the load of the machine
was {load:g}.

The work is nothing: steps that return at once, so that what is left is what each system does around them. Ours has no
HTTP and no destinations here: commands go straight to their topic, and a job is done when its `JobCompleted` is read
from the log. Told apart, each step is acknowledged by the broker before the next begins, as the peers do it; told
together is what our workers do with steps that end within 50 ms of each other. The local stack is shipped with 12
partitions, each with transactions of its own; what two of them cost is shown beside it."""


def section(figures: Mapping[str, object]) -> Iterator[str]:
    """Yield paragraphs and tables."""
    found = msgspec.convert(figures, Figures)
    yield HOW.format(
        in_flight=found.in_flight,
        workers=found.worker_processes,
        rounds=found.rounds,
        seconds=found.seconds,
        load=found.load_before,
    )
    yield _speeds(found)
    yield table(
        ("ledger against", "the same work", "times its jobs/s", "target", "CPU of a job, theirs by ours"),
        [row for peer in found.peers for row in _ratios(peer)],
    )
    yield "What each keeps, and what it does not do that the ledger does:"
    yield "\n".join(f"- **{name}**: {words}" for name, words in _promises(found))
    yield "Where the CPU of a job goes, in ms by process:"
    yield _processes(found)
    if any(speed.counted for speed in found.ours.values()):
        yield "What the ledger does for a job, counted:"
        yield _counted(found)


def _speeds(found: Figures) -> str:
    rows = [(f"ledger: {name}", *_speed(speed)) for name, speed in found.ours.items()]
    rows += [(_named(peer), *_speed(peer.speed)) for peer in found.peers]
    if found.full:
        rows.append(("ledger: HTTP, three destinations, read back", *_speed(found.full)))
    return table(("", "jobs/s", "CPU-ms a job"), rows)


def _speed(speed: Speed | None) -> tuple[str, str]:
    return (spread_text(speed.jobs_per_second), spread_text(speed.cpu_ms_per_job)) if speed else ("not measured", "")


def _ratios(peer: Compared) -> Iterator[tuple[str, ...]]:
    if peer.away:
        yield peer.name, "", f"not measured: {' '.join(peer.away.split())}", "", ""
    for number, ratio in enumerate(peer.ratios):
        target = f"{peer.target:g}" if peer.target and number == 0 else ""
        yield peer.name, ratio.ours, spread_text(ratio.speed), target, spread_text(ratio.cpu)


def _promises(found: Figures) -> Iterator[tuple[str, str]]:
    yield "the ledger", found.durability
    for peer in found.peers:
        yield peer.name, f"{peer.configured}. {peer.durability} Not there: {peer.lacks}."


def _processes(found: Figures) -> str:
    systems = {f"ledger: {name}": speed for name, speed in found.ours.items()}
    systems |= {peer.name: peer.speed for peer in found.peers if peer.speed}
    if found.full:
        systems["ledger: HTTP, three destinations, read back"] = found.full
    return table(
        ("", "by process"),
        [
            (name, ", ".join(f"{process} {cost:.2f}" for process, cost in _dearest(speed)))
            for name, speed in systems.items()
        ],
    )


def _counted(figures: Figures) -> str:
    rows = [(name, speed.counted) for name, speed in figures.ours.items() if speed.counted]
    return table(
        ("", "commands", "events", "transactions", "events a transaction"),
        [
            (name, *(f"{done.get(what, 0):.2f}" for what in (COMMANDS, EVENTS, TRANSACTIONS)), _each(done))
            for name, done in rows
        ],
    )


def _each(done: Mapping[str, float]) -> str:
    return f"{done[EVENTS] / done[TRANSACTIONS]:.0f}" if done.get(TRANSACTIONS) else ""


def _dearest(speed: Speed) -> list[tuple[str, float]]:
    return sorted(speed.by_process.items(), key=lambda item: -item[1])


def _named(peer: Compared) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in peer.versions.items())
    steps = "four steps" if peer.steps > 1 else "one step"
    return f"{peer.name}: {steps} ({versions})"


def spread_text(spread: Spread) -> str:
    """Return the middle with the ends in brackets."""
    return f"{spread.median:.4g} ({spread.least:.4g} to {spread.most:.4g})"
