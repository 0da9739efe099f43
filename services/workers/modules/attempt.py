"""One attempt at a module job: the plan, then chunk after chunk from where the grant says, as a sequence of reports."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from services.ledger.items import Items
from services.ledger.replies import Granted
from services.ledger.reports import Extracted, Failed, ItemsReport, Outcome, Planned, RetryLater
from services.ledger.tasks import Task
from services.runtime.errors import BlobFault, BlobMissing
from services.runtime.item_chunks import chunk_key, lines_of, packed_lines, plan_key, stats_part
from services.runtime.time import monotonic
from services.workers.attempt import AWAY_DELAY_MS, Report
from services.workers.extract.size import chars_of
from services.workers.job import Unreadable, private, submitted
from services.workers.modules import protocol
from services.workers.modules.plan import PlannedItems, lines_of_plan
from services.workers.modules.protocol import Item, Module, ModuleFailed
from services.workers.modules.recorder import BadOutcome, Recorder, beginning
from services.workers.modules.registry import read_params
from services.workers.modules.stats import Kept, Stats, decoded
from services.workers.modules.tools import AttemptTools, OtherItems
from services.workers.steps import Tools

FLUSH_SECONDS = 1.0  # an outcome waits so long at most to be recorded, and a line to be told
LEAST_SECONDS = 0.001  # that is waited for an outcome: what is left of a second may be less than clocks tell
AHEAD = 2_000  # outcomes that a module may be ahead of the chunk that is being stored
AHEAD_CHARS = 8 << 20  # of their results: a broker that is away for long must not fill the memory

log = logging.getLogger(__name__)


class _Submitted(msgspec.Struct):
    input: dict[str, Any] = {}


class _Work:
    """Where an attempt is: also after an accident."""

    def __init__(self, tools: Tools, others: OtherItems, module: Module, task: Task, granted: Granted) -> None:
        self._blobs = tools.blobs
        self._module, self._task, self._attempt = module, task, granted.attempt
        self.come = granted.resume.items or Items(chain_id=task.job_id)
        self.tools = AttemptTools(tools, others, task.org_id, task.job_id, self.come.logged)
        self.recorder: Recorder | None = None
        self._flushed_at = monotonic()

    async def reports(self) -> AsyncGenerator[Report]:
        """Work to the end."""
        params = _params(self._module, self._task)
        plan = await self._planned(params)
        if not self.come.plan_ref:
            planned = await self._store_plan(plan)
            self.come = replace(self.come, plan_ref=planned.plan_ref, planned=planned.planned)
            yield Report(items=(planned, *self.tools.take_lines()))
        items = PlannedItems(plan, self.come.next_item)
        kept = beginning(await self._kept(), goes_on_from_another=not self.come.chunks)
        self.recorder = Recorder(self.come, items, kept)
        async with contextlib.aclosing(self._outcomes(params, items)) as outcomes:
            async for outcome in outcomes:
                if outcome is not None:
                    self.recorder.add(outcome)
                if (self.recorder.full or outcome is None) and (parts := await self.flushed()):
                    yield Report(items=parts)
        while self.recorder.left:
            self.recorder.pass_over()
            if self.recorder.full:
                yield Report(items=await self.flushed())
        yield Report(items=await self.flushed(), outcome=Extracted(result_ref=""))

    async def flushed(self) -> tuple[ItemsReport, ...]:
        """Store the chunk at hand, and return what is to be told: it, and the lines."""
        self._flushed_at = monotonic()
        parts: tuple[ItemsReport, ...] = ()
        if self.recorder is not None and not self.recorder.empty:
            full = self.recorder.take()
            key = chunk_key(self._task.org_id, self.come.chain_id, self.come.link, self._attempt, full.told.chunk)
            await self._blobs.put(key, full.packed.data)
            parts = (full.report(key),)
        return (*parts, *self.tools.take_lines())

    async def _planned(self, params: Any) -> Sequence[bytes]:
        if self.come.plan_ref:
            return lines_of(await self._blobs.get(self.come.plan_ref))
        return await lines_of_plan(self._module.plan(params, self.tools), self._module.limits.max_items)

    async def _store_plan(self, plan: Sequence[bytes]) -> Planned:
        data = packed_lines(plan)
        key = plan_key(self._task.org_id, self.come.chain_id, self.come.link, self._attempt)
        await self._blobs.put(key, data)
        return Planned(plan_ref=key, planned=len(plan), plan_bytes=len(data))

    async def _kept(self) -> Kept:
        if not self.come.newest_ref:
            return Kept(Stats())
        return decoded(stats_part(await self._blobs.get(self.come.newest_ref), self.come.newest_stats_bytes))

    async def _outcomes(self, params: Any, items: Sequence[Item]) -> AsyncGenerator[protocol.Outcome | None]:
        """Yield what the module yields, and None whenever something waits to be told for long enough."""
        ahead, arrived, room = deque[tuple[protocol.Outcome, int]](), asyncio.Event(), asyncio.Event()
        chars = 0  # of those that are ahead

        async def run() -> None:
            nonlocal chars
            async with contextlib.aclosing(self._module.run(params, items, self.tools)) as outcomes:
                async for outcome in outcomes:
                    while len(ahead) >= AHEAD or chars >= AHEAD_CHARS:
                        room.clear()
                        await room.wait()
                    taken = chars_of(outcome.rows)
                    chars += taken
                    ahead.append((outcome, taken))
                    arrived.set()

        running = asyncio.ensure_future(run())
        running.add_done_callback(lambda _: arrived.set())
        try:
            while ahead or not running.done():
                if ahead:
                    outcome, taken = ahead.popleft()
                    chars -= taken
                    yield outcome
                    room.set()
                if monotonic() >= self._flushed_at + FLUSH_SECONDS:
                    yield None
                if not ahead and not running.done():
                    arrived.clear()
                    with contextlib.suppress(TimeoutError):
                        left = self._flushed_at + FLUSH_SECONDS - monotonic()
                        async with asyncio.timeout(max(LEAST_SECONDS, left)):
                            await arrived.wait()
            await running
        finally:
            running.cancel()
            await asyncio.wait({running})


def attempts(
    tools: Tools, others: OtherItems, modules: Mapping[str, Module], task: Task, granted: Granted
) -> AsyncGenerator[Report]:
    """Yield the reports of one attempt; the last one has an outcome, whatever goes wrong on the way."""
    module = modules.get(task.module)
    if module is None:
        return _unknown(task)
    return _reports(_Work(tools, others, module, task, granted))


async def _unknown(task: Task) -> AsyncGenerator[Report]:
    message = f"this worker has no module {task.module!r}: install it, and resume the job"
    yield Report(outcome=Failed(error_type="module_unknown", private=private(message=message)))


async def _reports(work: _Work) -> AsyncGenerator[Report]:
    try:
        async with contextlib.aclosing(work.reports()) as reports:
            async for report in reports:
                yield report
    except Exception as error:
        outcome = _accident(error)
        parts: tuple[ItemsReport, ...] = ()
        if isinstance(outcome, Failed):
            with contextlib.suppress(BlobFault):  # what is not recorded is done again by whoever goes on
                parts = await work.flushed()
        yield Report(items=parts, outcome=outcome)


def _accident(error: Exception) -> Outcome:
    """Return how an attempt ends that met an error; what is recorded stays."""
    match error:
        case ModuleFailed():
            return Failed(error_type="module_failed", private=private(message=str(error)))
        case Unreadable():
            return Failed(error_type="params_invalid", private=private(message=str(error)))
        case BlobFault() if not isinstance(error, BlobMissing):
            log.warning("blob store failed, job is tried again", extra={"error": str(error)})
            return RetryLater(node_id="", try_number=1, delay_ms=AWAY_DELAY_MS, error_type="blobs_unavailable")
        case _:
            log.error("job failed by a fault of its module or of ours", exc_info=error)
            kind = "module_fault" if isinstance(error, BadOutcome) else "internal"
            return Failed(error_type=kind, private=private(message=f"{type(error).__name__}: {error}"))


def _params(module: Module, task: Task) -> Any:
    params, faults = read_params(module, submitted(task.private, _Submitted, "an input").input)
    if faults:
        raise Unreadable("; ".join(faults))
    return params
