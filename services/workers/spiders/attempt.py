"""One attempt at a spider job: a process is started, heard to its end and judged, as a sequence of reports."""

import contextlib
import logging
from collections.abc import AsyncGenerator
from typing import Protocol

import msgspec
from msgspec.structs import replace

from services.ledger.items import Items as Come
from services.ledger.replies import Granted
from services.ledger.reports import RetryLater
from services.ledger.tasks import Task
from services.runtime.errors import BlobFault, BlobMissing, CredentialsAway, Unsealable
from services.runtime.time import monotonic, utc_now
from services.workers.attempt import AWAY_DELAY_MS, Report
from services.workers.blobs import Blobs
from services.workers.job import Unreadable, submitted
from services.workers.spiders.archive import ArchiveInvalid
from services.workers.spiders.frames import OURS, Line
from services.workers.spiders.hearing import Hearing, failed
from services.workers.spiders.measures import measure
from services.workers.spiders.options import RunOptions
from services.workers.spiders.protocol import Runner
from services.workers.spiders.recorder import Recorder
from services.workers.spiders.verdict import Failure

log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode


class Environments(Protocol):
    """Knows the environments of projects; `services.workers.project_env.StoredProjectEnv` is one."""

    async def of(self, org_id: str, project: str) -> dict[str, str]:
        """Return the variables that a project has now; raises CredentialsAway, or Unsealable."""


class _Submitted(msgspec.Struct):
    input: RunOptions


async def attempts(
    blobs: Blobs, environments: Environments, runner: Runner, task: Task, granted: Granted
) -> AsyncGenerator[Report]:
    """Yield the reports of one attempt, and count what is told; the last one has an outcome, whatever goes wrong."""
    ended = False
    try:
        async with contextlib.aclosing(_reports(blobs, environments, runner, task, granted)) as reports:
            async for report in reports:
                ended = ended or report.outcome is not None
                yield report
                measure(report)
    except Exception as error:
        log.error("run failed by a fault of ours", extra={"job_id": task.job_id}, exc_info=error)
        if not ended:
            yield _ended("internal", f"{type(error).__name__}: {error}")


async def _reports(
    blobs: Blobs, environments: Environments, runner: Runner, task: Task, granted: Granted
) -> AsyncGenerator[Report]:
    began_at = monotonic()
    recorder = Recorder(
        blobs, task.org_id, task.job_id, granted.attempt, granted.resume.items or Come(chain_id=task.job_id)
    )
    try:
        options = submitted(task.private, _Submitted, "the options of a run").input
        env = await environments.of(task.org_id, options.project)
        archive = await blobs.get(task.workflow_ref)
        recorder.add_lines([_beginning(options)])
        parts = await recorder.flushed()
    except Unreadable as error:
        yield _ended("params_invalid", error)
        return
    except Unsealable as error:
        yield _ended("credential_unreadable", error)
        return
    except BlobMissing as error:
        yield _ended("archive_invalid", error)
        return
    except (BlobFault, CredentialsAway) as error:
        log.warning("run cannot begin, job is tried again", extra={"error": str(error)})
        away = "blobs_unavailable" if isinstance(error, BlobFault) else "credentials_unavailable"
        yield Report(outcome=RetryLater(node_id="", try_number=1, delay_ms=AWAY_DELAY_MS, error_type=away))
        return
    yield Report(items=parts)  # from now on the ledger knows that the run may have begun: it begins at most once
    options = replace(options, env=env | options.env)
    try:
        spider = await runner.start(options, archive)
    except ArchiveInvalid as error:
        yield _ended("archive_invalid", error)
        return
    except OSError as error:
        log.error("no process for a spider", exc_info=error)
        yield _ended("spider_never_started", f"its process could not be started: {error}")
        return
    limit = max(0.0, task.max_run_seconds - (monotonic() - began_at)) if task.max_run_seconds else None
    hearing = Hearing(spider, recorder, options, limit)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(hearing.close)
        async with contextlib.aclosing(hearing.reports()) as reports:
            async for report in reports:
                yield report


def _ended(error_type: str, why: object) -> Report:
    return Report(outcome=failed(Failure(error_type, str(why))))


def _beginning(options: RunOptions) -> bytes:
    """Return the line that each log begins with: what was asked for, without values that may be secret."""
    shown = {
        name: value
        for name, value in msgspec.to_builtins(options).items()
        if name not in ("spider_args", "settings", "env")
    }
    names = {name: sorted(getattr(options, name)) for name in ("spider_args", "settings", "env")}
    now = utc_now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return _encode(Line("info", f"the run begins: {_encode(shown | names).decode()}", now, OURS))
