"""What a command leads to in each state of a job, found by deciding it: the tables of docs/state_machine.md."""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from schemas.recorded import Recorded
from schemas.values import Destination
from services.decider.batch import BatchDecider
from services.ledger.commands import (
    AnyCommand,
    CancelJob,
    ClaimTask,
    DeleteJob,
    ExpireJob,
    NewJob,
    RedeliverJob,
    RegisterOrg,
    ReportProgress,
    RetryNow,
    SettleDeliveries,
    SubmitJobs,
)
from services.ledger.policy import SECOND, Policy
from services.ledger.replies import Refused
from services.ledger.reports import DeliveryResult, Extracted, Failed, RetryLater
from services.ledger.state import Ledger
from services.ledger.status import Status

FINAL = """\
## What ends a job, and what comes after its end

What each of these leads to in each state, as the rules decide it; `refused` is what the asker is told.

{cases}

**Cancel.** One terminal event is recorded, whichever of a cancel and the last report is decided first; the other is
refused, the report as `ReportRefused`. A worker is told at once, and by the answer to its next heartbeat: no provider
is called later than one heartbeat, and the time of its answer, after the cancel was committed. Where the two cannot
hear each other then (a frozen worker, a decider or broker that is away, lost messages), the time begins when they can
again; a worker that has read the word begins no call in any case. It says when it has stopped, recorded as
`ReportRefused` (`release`); a cancel that overtakes the grant keeps the job from beginning. In `extraction_done` the
deliveries under way may still reach their destinations, their ACKs are recorded and change nothing, and no further try
is made. On a dead worker nothing has to be waited for: the job ends at the cancel, and all its nodes with it, for only
finished ones are recorded.

**Retry-now.** The wait ends at once and is dated anew (`RetryBroughtForward`): the job takes the next free slot of its
org, ahead of pending ones, and tries the same node with the number that it would have had. It is the wait behind one
attempt that ends: a copy of the command that lands late ends no later one ([commands](commands.md)).

**Delete.** A job that has not ended is cancelled first, in the same transaction. `DELETE` answers 200 once no reader
sees the job any more (202: within moments). Its rows leave the read models, and `deleted_jobs` keeps that it was
there, how it ended and its ordinals; ClickHouse keeps `JobDeleted` and what came later. Each store of ours is asked
to forget it (`DeliveryRequested` with `erase`), again and again until its writer has answered: `extraction_results`
in Postgres keeps an empty row behind its view, ClickHouse keeps the job in `erased_jobs`, so that no late write
passes; every body of the job leaves the blob store. A worker that reports on it later is refused (`job_deleted`), and
the stores forget once more, for it may have left a body behind; so they do when a worker is lost that ran it at its
end and had not said since that it stopped. Until one of the two, an ended job stays in memory. A delivery or a webhook
that had left already is not called back.

The log is not rewritten: `private` of its events stays where it is, and with it copies of the topics (tasks and
commands for 7 days, dead letters until somebody removes them). For an org with [erasure](erasure.md) it is sealed
under a key of the job, which is destroyed with the deletion: all of them are unreadable then. ClickHouse hides deleted
rows at once and drops their bytes with the next merge.

**Expire.** Results of a job that has ended are kept for `JOBLEDGER_RETENTION_SECONDS` (90 days; 0: for ever), or for as
long as the operator set for its org. Then `JobExpired` says that they go, and each store of ours is asked to forget
them in the way in which it forgets a deleted job: no late write brings them back. The job itself stays with its trace,
its transitions and how it ended; its results are answered `results_expired` (410), and so is a redelivery. `expired` is
a state of its data, not of the job. [Retention](retention.md) says when, by whom, and what is left.

**Jobs that left memory.** A job that has ended and settled leaves the decider's memory when Postgres has every event
of it: not among the newest `JOBLEDGER_ENDED_KEPT` ended ones of its partition, nor for `JOBLEDGER_ENDED_KEPT_SECONDS`
after its end. `JobsArchived` says so in the log, so that memory is a fold of the log alone. A command on such a job
makes the decider load it from Postgres first; if anything follows, `JobRecalled` brings it back. With Postgres away,
or being rebuilt, nothing leaves memory, and such a command is turned away: 503 `ledger_unavailable` to a caller, a
dead letter `archive_unavailable` where nobody waits for an answer."""
ORG, JOB, PLACE = "acme", "job", "internal-postgres"
START = 1_800_000_000 * SECOND
Command = Callable[[], AnyCommand]


class _Encoder:
    """Makes bytes of events; which ones, nobody looks at."""

    def encode(self, recorded: Recorded) -> bytes:
        """Return some bytes."""
        return msgspec.msgpack.encode([recorded.header, recorded.event])


def _claim(boot_id: str = "boot") -> AnyCommand:
    return ClaimTask(command_id="c", org_id=ORG, job_id=JOB, dispatch=1, worker_id="worker", boot_id=boot_id)


def _report(outcome: Extracted | Failed | RetryLater) -> AnyCommand:
    return ReportProgress(
        command_id="p", org_id=ORG, job_id=JOB, attempt=1, worker_id="worker", boot_id="boot", outcome=outcome
    )


def _ack(destination_id: str = PLACE) -> AnyCommand:
    result = DeliveryResult(org_id=ORG, job_id=JOB, destination_id=destination_id, generation=1, rows=1)
    return SettleDeliveries(command_id="d", results=(result,))


def _cancel() -> AnyCommand:
    return CancelJob(command_id="x", org_id=ORG, job_id=JOB, correlation_id="of the caller")


def _delete() -> AnyCommand:
    return DeleteJob(command_id="e", org_id=ORG, job_id=JOB)


def _expire() -> AnyCommand:
    return ExpireJob(command_id="y", org_id=ORG, job_id=JOB)


EXTRACTED = Extracted(result_ref="body")
RUNNING = (_claim(),)
DONE = (*RUNNING, _report(EXTRACTED))
STATES: dict[str, tuple[AnyCommand, ...]] = {
    Status.PENDING: (),
    Status.RUNNING: RUNNING,
    Status.WAITING_RETRY: (*RUNNING, _report(RetryLater(node_id="n", try_number=2, delay_ms=60_000))),
    Status.EXTRACTION_DONE: DONE,
    Status.COMPLETED: (*DONE, _ack()),
    Status.FAILED: (*RUNNING, _report(Failed(error_type="providers_exhausted"))),
    Status.CANCELLED: (*RUNNING, replace(_cancel(), correlation_id="another")),
    "expired": (*DONE, _ack(), _expire()),
    "deleted": (*DONE, _ack(), _delete()),
}
COMMANDS: dict[str, Command] = {
    "cancel": _cancel,
    "delete": _delete,
    "retry-now": lambda: RetryNow(command_id="h", org_id=ORG, job_id=JOB, attempt=1),
    "redeliver": lambda: RedeliverJob(command_id="g", org_id=ORG, job_id=JOB, destination_id=PLACE, generation=2),
    "results are past retention": _expire,
    "an old task is claimed": lambda: _claim("another boot"),
    "its worker reports the extraction": lambda: _report(EXTRACTED),
    "an ACK comes": _ack,
}


def section() -> str:
    """Return the section on the ends of jobs."""
    return FINAL.format(cases="\n".join(_cases()))


def _cases() -> list[str]:
    lines = [f"| state | {' | '.join(COMMANDS)} |", f"|---|{'---|' * len(COMMANDS)}"]
    for name, before in STATES.items():
        cells = (_outcome(before, command()) for command in COMMANDS.values())
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def _outcome(before: tuple[AnyCommand, ...], command: AnyCommand) -> str:
    """Return the events of a command and what its asker is told, where these say more than that it is done."""
    decider = BatchDecider(Ledger(0, Policy(retention=1)), _Encoder())
    place = Destination(destination_id=PLACE, kind="postgres")
    org = RegisterOrg(command_id="r", org_id=ORG, name=ORG)
    job = SubmitJobs(command_id="s", org_id=ORG, jobs=(NewJob(job_id=JOB),), destinations=(place,))
    for offset, each in enumerate((org, job, *before)):
        decider.command(each, offset, START + offset)
    decider.take()
    decider.command(replace(command, requester="asker"), 100, START + SECOND)
    batch = decider.take()
    events = [stored.recorded.header.event_type for stored in batch.events if stored.recorded.event.job_id]
    told = batch.replies[-1].body
    said = [f"refused: `{told.code}`"] if isinstance(told, Refused) else []
    return ", ".join([*events, *said]) or "nothing"
