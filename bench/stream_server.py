"""One API process that streams a job which lives in its tail alone: `python -m bench.stream_server`, told over stdin.

It says its port and key on stdout; then each line `event` makes one more event of the job, and `cost` is answered with
the CPU time and memory of the process so far.
"""

import asyncio
import hashlib
import queue
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
import uvloop
from aiohttp import web

from api.auth import Keyring
from api.config.keys import Grant
from api.http import app_of
from api.limits import Limiter
from api.lookup import Jobs
from api.parts import Parts
from api.routes.stream import OPERATIONS
from api.streams import Streams
from api.tail import Tail
from bench.machine import resident_bytes
from projections.postgres.read import ReadModel
from projections.postgres.views import Progress
from schemas.codec import Encoder
from schemas.events import EVENT_TYPES
from services.decider.batch import BatchDecider
from services.ledger.commands import AnyCommand, ClaimTask, NewJob, RegisterOrg, ReportProgress, SubmitJobs
from services.ledger.reports import NodeReport
from services.ledger.state import Ledger
from services.runtime.health import Health
from services.runtime.ids import uuid7
from services.runtime.ledger_log import Entry
from services.runtime.settings import Settings
from services.runtime.time import now_micros

ORG, KEY_ID, SECRET = "acme", "0" * 16, "1" * 64
KEY = f"jlk_{KEY_ID}_{SECRET}"


class Hello(msgspec.Struct, frozen=True):
    """Where the process listens, and which job it streams to whom."""

    port: int
    key: str
    job_id: str


class Spent(msgspec.Struct, frozen=True):
    """What the process has used."""

    cpu_seconds: float
    rss_bytes: int


class Log:
    """The log in memory; each command's events are read from it once."""

    def __init__(self) -> None:
        self._decider = BatchDecider(Ledger(0), Encoder({name: n for n, name in enumerate(EVENT_TYPES, 1)}))
        self._events: queue.Queue[Entry] = queue.Queue()
        self._offset = 0
        self._read = 0

    def decide(self, command: AnyCommand) -> None:
        """Decide a command and append its events."""
        self._decider.command(command, self._offset, now_micros())
        for event in self._decider.take().events:
            header = event.recorded.header
            entry = Entry(event.recorded, event.stored, header.event_type, 0, self._offset, header.position)
            self._offset += 1
            self._events.put(entry)

    def poll(self, max_events: int, timeout_seconds: float) -> Sequence[Entry]:
        """Return the next event."""
        try:
            entry = self._events.get(timeout=timeout_seconds)
        except queue.Empty:
            return []
        self._read = entry.next_offset
        return [entry]

    def next_offsets(self) -> Mapping[int, int]:
        """Return how far it was read."""
        return {0: self._read}

    def close(self) -> None:
        """Nothing to let go of."""


class NoPostgres:
    """A read model that has folded nothing yet."""

    async def job(self, _org_id: str, _job_id: str) -> None:
        """Return nothing."""

    async def deleted(self, _org_id: str, _job_ids: Sequence[str]) -> set[str]:
        """Return nothing."""
        return set()

    async def progress(self, _org_id: str, _job_id: str, _partition: int, _after: int) -> Progress:
        """Return that nothing was folded."""
        return Progress(0, None, [], [])

    async def reached(self, _partition: int, _position: int, timeout_seconds: float) -> bool:
        """Wait in vain."""
        await asyncio.sleep(timeout_seconds)
        return False

    def folded(self, _partition: int) -> int:
        """Return that nothing was folded."""
        return 0


class NoKeys:
    """Keys of jobs, none of which is sealed."""

    async def of(self, _jobs: Any) -> dict[Any, bytes]:
        """Return none."""
        return {}


async def main() -> None:
    """Serve until stdin ends."""
    log, job_id = Log(), uuid7()
    private = b"\0" + msgspec.json.encode({"url": "https://shop.example/p/1"})
    log.decide(RegisterOrg(command_id="r", org_id=ORG, name=ORG))
    new = NewJob(job_id=job_id, domain="shop.example", private=private)
    log.decide(SubmitJobs(command_id="s", org_id=ORG, jobs=(new,), workflow_id="w", workflow_version=1))
    log.decide(ClaimTask(command_id="c", org_id=ORG, job_id=job_id, dispatch=1, worker_id="w1", boot_id="b1"))
    settings = Settings(kafka="", postgres="", registry="", blobs="file:///nowhere")

    async def nothing() -> Mapping[int, int]:
        return {}

    async def unknown(_partition: int) -> None:
        return None

    async def used(_grant: Grant) -> None:
        return None

    async def grant(key_id: str) -> Grant:
        return Grant(key_id, ORG, hashlib.sha256(SECRET.encode()).digest(), ["read"], 0)

    tail = Tail(log, unknown, nothing)
    jobs = Jobs(cast(ReadModel, NoPostgres()), tail, NoKeys())
    keyring = Keyring(grant, "", used)
    none: Any = None
    parts = Parts(
        **dict.fromkeys(Parts.__dataclass_fields__, none)
        | {
            "settings": settings,
            "keyring": keyring,
            "limiter": Limiter(0),
            "jobs": jobs,
            "streams": Streams(jobs, tail, keyring, settings),
            "health": Health("api"),
        }
    )
    runner = web.AppRunner(app_of(parts, OPERATIONS), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    following = asyncio.create_task(tail.run())
    _say(Hello(runner.addresses[0][1], KEY, job_id))
    step = 0
    while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
        if line == "cost":
            _say(Spent(time.process_time(), resident_bytes()))
            continue
        node = NodeReport(
            step=step, node_id="fetch", node_kind="service", provider="direct", status_code=200, edge="success"
        )
        report = ReportProgress(
            command_id=str(step), org_id=ORG, job_id=job_id, attempt=1, worker_id="w1", boot_id="b1", nodes=(node,)
        )
        log.decide(report)
        step += 1
    following.cancel()
    await runner.cleanup()


def _say(told: msgspec.Struct) -> None:
    sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(main())
