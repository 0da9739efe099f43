"""Which faults a seed brings, and when: everything is drawn from one generator, in the order of the run."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from random import Random
from typing import Literal

Fault = Literal[
    "command_unacknowledged",  # lands, but the producer is told that it did not
    "command_not_landed",  # does not land, and the producer is told so
    "command_late",  # lands seconds after the producer was told that it did not
    "reply_lost",
    "word_lost",  # a reply that nobody asked for
    "reply_twice",
    "reply_late",
    "commit_unknown",  # committed, but the producer is told that it failed
    "commit_aborted",  # aborted, and the producer is told so
    "slow_call",  # a call of any port takes a second or more
    "slow_marker",  # a committed transaction becomes readable late
    "blob_fault",
    "body_late",  # a body lands seconds later, perhaps when its worker is no more
    "destination_down_before",  # nothing of the batch is stored
    "destination_down_after",  # it is stored, but the writer is told that it is not
    "read_model_down_before",
    "read_model_down_after",
    "clickhouse_down_before",  # nothing is inserted or erased
    "clickhouse_down_after",  # it is, and the projection is told that it is not
    "archive_away",
    "keys_away",  # of jobs that are sealed
    "registry_away",
    "page_fails",
    "page_hangs",
    "rebalance",  # the group is dealt again for no reason
    "stale_buffer",  # a member goes on with what it had fetched before a rebalance
    "row_refused",
    "snapshot_lost",  # the store says that it has it, and has not
    "snapshot_corrupt",  # cut off, or a bit of it is another
    "snapshot_of_older_fold",
]
# Without these, a worker that lives is heard: nobody may give it up.
SILENCING: set[Fault] = {
    "command_unacknowledged",
    "command_not_landed",
    "command_late",
    "slow_call",
    "commit_unknown",
    "commit_aborted",
}
USUAL_SECONDS, SLOW_SECONDS = 0.01, 4.0  # the longest that a call takes, and a slow one
# In any weather: the web is like that, and nothing may rest on a word that nobody asks for again.
ALWAYS: dict[Fault, float] = {"page_fails": 0.15, "page_hangs": 0.05, "word_lost": 0.3}


@dataclass(frozen=True, slots=True)
class Weather:
    """How often what happens in one seed."""

    storm_seconds: float
    steps_between_kills: float  # of the code of one process; 0: no process is killed
    pauses: int  # how many times a process stands still for some seconds
    outages: int  # how many times the broker is away for some seconds
    stops: int  # how many times a process is told to stop
    skew_seconds: float  # by which clocks of workers are off
    chances: dict[Fault, float]


def weather_of(random: Random) -> Weather:
    """Draw the weather of a seed: calm ones are needed too, to see what a single kind of fault does."""
    faults = Fault.__args__  # type: ignore[attr-defined]
    kinds = random.choice((0, 1, 3, len(faults), len(faults)))
    chances = {fault: random.choice((0.02, 0.05, 0.2)) for fault in random.sample(faults, kinds)} | ALWAYS
    return Weather(
        storm_seconds=random.uniform(8.0, 20.0),
        steps_between_kills=random.choice((0.0, 50.0, 150.0, 150.0, 500.0)),
        pauses=random.choice((0, 0, 1, 3)),
        outages=random.choice((0, 0, 0, 1, 2)),
        stops=random.choice((0, 1, 3)),
        skew_seconds=random.choice((0.0, 0.0, 600.0)),
        chances=chances,
    )


class Chaos:
    """Draws faults as long as the storm lasts."""

    def __init__(self, random: Random, weather: Weather) -> None:
        self.random, self.weather = random, weather
        self.now: Callable[[], float] = lambda: 0.0  # simulated seconds
        self.struck: list[tuple[float, Fault, bytes]] = []  # when which fault happened, and to which message
        self.storm = True

    def strikes(self, fault: Fault, message: bytes = b"") -> bool:
        """Whether this fault happens here, to this message."""
        chance = self.weather.chances.get(fault, 0.0) if self.storm else 0.0
        strikes = chance > 0.0 and self.random.random() < chance
        if strikes:
            self.struck.append((self.now(), fault, message))
        return strikes

    def latency(self) -> float:
        """How long a call takes, in seconds."""
        if self.strikes("slow_call"):
            return self.random.uniform(0.5, SLOW_SECONDS)
        return self.random.uniform(0.0005, USUAL_SECONDS)

    def longest_call(self) -> float:
        """How long a call may take in this weather, in seconds."""
        return SLOW_SECONDS if "slow_call" in self.weather.chances else USUAL_SECONDS

    def steps_to_live(self) -> int:
        """How many steps a process runs before it is killed; -1: it is not."""
        mean = self.weather.steps_between_kills
        return int(self.random.expovariate(1.0 / mean)) + 1 if self.storm and mean else -1

    def describe(self) -> str:
        """Say in one line what is to be expected."""
        said = {each.name: getattr(self.weather, each.name) for each in fields(self.weather)}
        return " ".join(
            f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}" for name, value in said.items()
        )
