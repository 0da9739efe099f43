"""What `make bench-quick` measures: pieces of the path of a job, each beside a floor in the same process."""

import gc
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from bench.events import generated
from bench.live_jobs import NAMES, Mix, build
from bench.queue import ORGS, Partition
from projections.postgres.fold import Current, fold
from schemas.avro_of import record_schema
from schemas.codec import Decoder
from services.ledger.state import Ledger
from tests.event_streams import Stream

EVENTS = 5_000
JOBS = 300
SHALLOW, DEEP = ORGS, 50 * ORGS  # pending jobs
CALIBRATION = 4_000
ROWS, STRIDE = 100_000, 7_919  # more than a cache holds, one far from the other
SPEC = b'\0{"url":"https://shop.example/catalogue/products/000000001"}'


@dataclass(frozen=True, slots=True)
class Work:
    """A piece of work and its floor; what is compared is CPU time of the one by that of the other."""

    name: str
    floor: Callable[[], object]
    run: Callable[[], object]

    def ratio(self) -> float:
        """Measure both, one right after the other."""
        floor = cpu_seconds(self.floor)
        return cpu_seconds(self.run) / floor


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of this process that a piece of work takes."""
    began = time.process_time()
    work()
    return time.process_time() - began


class _Row(msgspec.Struct, array_like=True):
    name: str
    number: int
    data: bytes


class Calibration:
    """A bit of what the ledger is made of, without the ledger: messages, hashes, and objects all over the memory."""

    def __init__(self) -> None:
        self._encoder, self._decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(_Row)
        self._names = [f"job-{number:012d}" for number in range(ROWS)]
        self._rows = {name: _Row(name, number, SPEC) for number, name in enumerate(self._names)}

    def __call__(self) -> None:
        """Do it so many times."""
        digest = bytes(32)
        for number in range(CALIBRATION):
            name = self._names[number * STRIDE % ROWS]
            row = self._decoder.decode(self._encoder.encode(self._rows[name]))
            digest = hashlib.sha256(digest + row.data).digest()
            self._rows[name] = msgspec.structs.replace(row, number=row.number + digest[0])


def works() -> list[Work]:
    """Prepare everything that is measured without a broker."""
    calibration = Calibration()
    shallow, deep = Partition(SHALLOW), Partition(DEEP)
    stream = generated(EVENTS, Stream())
    decoder = Decoder(lambda number: record_schema(NAMES[number]))
    gc.collect()
    gc.freeze()  # as processes do that have read their log: what was prepared is not looked through again
    return [
        Work("decider: a job through rules and bytes", calibration, lambda: shallow.costs(JOBS)),
        Work(f"decider: {DEEP:,} pending by {SHALLOW:,}", lambda: shallow.costs(JOBS), lambda: deep.costs(JOBS)),
        Work("log: an event written, read and applied", calibration, lambda: build(Ledger(0), Mix(1_000, 100))),
        Work("log: an event decoded", calibration, lambda: [decoder.decode(raw) for raw in stream.raws]),
        Work("Postgres: an event folded", calibration, lambda: fold(Current(), stream.events)),
    ]
