"""How many deliveries are sent again at once: a window for each place that can fail by itself, and a line behind it.

After an outage of an hour a hundred thousand deliveries are due at once. Sent again together, and again while nobody
answers, they would stand on the topic of deliveries before everything fresh. So of each place only a window of them is
out, an answer lets the next one go, and what is fresh is never held back.

`out` follows from the jobs. The line does not: it holds timers that were popped, and after a restore those that are
due are popped again.
"""

from collections import OrderedDict, defaultdict
from typing import TypeAlias

from services.ledger.delivery import DeliveryState, DeliveryStatus
from services.ledger.endpoints import webhook_of
from services.ledger.erasure import OUR_STORES
from services.ledger.job import Job
from services.ledger.timers import Timer

Place: TypeAlias = tuple[str, str]  # org and destination, or of our stores nobody and their kind
Key: TypeAlias = tuple[str, str]  # job and destination


class Resends:
    """What was sent again and not answered, and what waits to be."""

    __slots__ = ("_lines", "_open", "out", "window")

    def __init__(self, window: int) -> None:
        self.window = window
        self.out: defaultdict[Place, set[Key]] = defaultdict(set)
        self._lines: dict[Place, OrderedDict[Key, Timer]] = {}
        self._open: dict[Place, None] = {}  # places with a line that may have room, in turn

    @property
    def waiting(self) -> int:
        """How many are due and wait for others to be answered."""
        return sum(map(len, self._lines.values()))

    def waits(self, job: Job, delivery: DeliveryStatus) -> bool:
        """Whether a delivery stands in line."""
        line = self._lines.get(place_of(job, delivery))
        return line is not None and _key(job, delivery) in line

    def has_room(self, job: Job, delivery: DeliveryStatus) -> bool:
        """Whether a delivery may be sent again now: it is out already, or the window is not full."""
        out = self.out.get(place_of(job, delivery), ())
        return len(out) < self.window or _key(job, delivery) in out

    def put(self, timer: Timer, job: Job, delivery: DeliveryStatus) -> None:
        """Let a delivery that is due wait in line."""
        self._lines.setdefault(place_of(job, delivery), OrderedDict()).setdefault(_key(job, delivery), timer)

    def pop(self) -> Timer | None:
        """Take the first one of a line whose window has room, places in turn."""
        while self._open:
            place = next(iter(self._open))
            del self._open[place]
            line = self._lines.get(place)
            if not line or len(self.out.get(place, ())) >= self.window:
                continue
            _, timer = line.popitem(last=False)
            if line:
                self._open[place] = None
            else:
                del self._lines[place]
            return timer
        return None

    def index(self, before: Job | None, after: Job) -> None:
        """Bring what is out from one state of a job to the next."""
        if before is not None and before.deliveries is after.deliveries and before.ending is after.ending:
            return
        had = _out(before) if before is not None else {}
        has = _out(after)
        for key, place in has.items():
            self.out[place].add(key)
        for key in had.keys() - has.keys():
            place = had[key]
            self.out[place].discard(key)
            if not self.out[place]:
                del self.out[place]
            if place in self._lines:
                self._open[place] = None


def place_of(job: Job, delivery: DeliveryStatus) -> Place:
    """Return what fails together with a destination: a store of ours fails for all orgs."""
    kind = delivery.destination.kind
    return ("", kind) if kind in OUR_STORES else (job.org_id, webhook_of(delivery.destination.destination_id))


def _key(job: Job, delivery: DeliveryStatus) -> Key:
    return job.job_id, delivery.destination.destination_id


def _out(job: Job) -> dict[Key, Place]:
    return {
        _key(job, delivery): place_of(job, delivery)
        for delivery in job.deliveries
        if delivery.state is DeliveryState.REQUESTED and delivery.try_number > 1 and job.delivers(delivery)
    }
