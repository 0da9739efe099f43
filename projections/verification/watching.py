"""Verifies the ledger again and again, at a low priority, and tells what it found by metrics.

A verification reads the whole log. So after each there is a pause, three times as long as it took or longer: at most a
quarter of one core, and that with the least priority the system has.
"""

import asyncio
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from clickhouse_connect.driver.exceptions import ClickHouseError
from psycopg import Error as PostgresError

from projections.verification.faults import Fault, Report
from services.runtime.errors import RuntimeFault
from services.runtime.health import Progress
from services.runtime.metrics import count, level
from services.runtime.postgres_faults import reason_of
from services.runtime.time import monotonic, utc_now

log = logging.getLogger(__name__)
NICENESS = 19
IDLE_TIMES = 3.0  # as long as it took is waited after a verification, at least
AGAIN_SECONDS = 10.0  # after one that could not be made
TICK_SECONDS = 1.0  # between two signs of life
SHOWN = 20  # faults in the log of the process; `jobledger verify` names all
AWAY = (RuntimeFault, PostgresError, ClickHouseError, OSError)


def take_least_priority() -> None:
    """Let everybody else go first."""
    os.nice(NICENESS)


@dataclass(slots=True)
class Watch:
    """Verifies until cancelled; each verification runs in a thread."""

    verify: Callable[[], Report]
    pause_seconds: float
    progress: Progress
    clock: Callable[[], float] = monotonic
    _kinds: set[str] = field(default_factory=set)  # that have a gauge: what is mended goes back to 0
    _failed: bool = False  # the last one could not be made
    _good_since: float = 0.0  # when the last verification without a fault began, or this process, if there was none
    _found: dict[str, object] = field(default_factory=dict)

    async def run(self) -> None:
        """Verify, tell, pause."""
        self._good_since = self.clock()
        while True:
            began = self.clock()
            work = asyncio.ensure_future(_in_thread_of_its_own(self.verify))
            await self._ticking(work)
            try:
                self._tell(work.result(), began)
                pause = pause_after(self.clock() - began, self.pause_seconds)
            except AWAY as error:
                self._failed = True
                count("verify_runs", outcome="failed")
                reason = str(error) if isinstance(error, RuntimeFault) else reason_of(error)
                log.warning("cannot verify", extra={"reason": reason})
                self.progress.stalled(f"cannot verify: {reason}")
                pause = min(self.pause_seconds, AGAIN_SECONDS)
            await self._ticking(asyncio.ensure_future(asyncio.sleep(pause)))

    async def _ticking(self, work: asyncio.Future[Any]) -> None:
        """Show signs of life and the age of what is known until the work is done; cancelled, let it go."""
        try:
            while not (await asyncio.wait({work}, timeout=TICK_SECONDS))[0]:
                self._show()
        finally:
            work.cancel()

    def _show(self) -> None:
        level("verify_good_age", self.clock() - self._good_since)
        if not self._failed:
            self.progress.beat(**self._found)

    def _tell(self, report: Report, began: float) -> None:
        self._failed = False
        found = Counter(kind_of(fault) for fault in report.faults)
        self._kinds |= found.keys() | set(report.rows) | {"log"}
        for kind in self._kinds:
            level("verify_violations", found[kind], kind=kind)
        if report.ok:
            self._good_since = began
            for partition, position in report.positions.items():
                level("verify_good_position", position, partition=str(partition))
        count("verify_runs", outcome="good" if report.ok else "violations")
        for fault in report.faults[:SHOWN]:
            where = {"org_id": fault.org_id, "job_id": fault.job_id, "place": fault.place, "field": fault.field}
            log.error("the read model is not what the log says", extra=where)  # not the values: they may name people
        self._found = {"violations": len(report.faults), "events": report.events, "at": _now()}
        self._show()


def pause_after(took_seconds: float, least_seconds: float) -> float:
    """Return how long to wait after a verification that took so long."""
    return max(least_seconds, IDLE_TIMES * took_seconds)


def kind_of(fault: Fault) -> str:
    """Return the kind of a violation: where it was found, a table or `log`."""
    return fault.place


async def _in_thread_of_its_own(verify: Callable[[], Report]) -> Report:
    """Run it in a thread that nobody waits for at the end of the process: a verification may take long."""
    loop, done = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

    def tell(report: Report | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(report)

    def work() -> None:
        report, fault = None, None
        try:
            report = verify()
        except BaseException as error:
            fault = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, report, fault)

    threading.Thread(target=work, name="verification", daemon=True).start()
    found: Report = await done
    return found


def _now() -> str:
    return utc_now().isoformat(timespec="seconds")
