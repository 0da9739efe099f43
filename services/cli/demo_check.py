"""What a demo run came to, against what was expected of it; pure: from outcomes to one summary."""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from api.answers import Job
from projections.verification.faults import Report
from services.cli.demo_run import Outcome
from services.cli.demo_workflows import PAGE_KINDS, PageKind
from services.cli.drawing import rule_of, standing
from services.cli.spans import milliseconds_between, percentile
from services.ledger.status import TERMINAL

SHOWN_FAULTS = 20


class End(msgspec.Struct, frozen=True, rename="camel"):
    """How a job ended: state, class of error, rule of the validation gate."""

    state: str
    error_type: str = ""
    rule: str = ""

    def __str__(self) -> str:
        cause = f" {self.error_type}" if self.error_type else ""
        return f"{self.state}{cause}{f' ({self.rule})' if self.rule else ''}"


class Share(msgspec.Struct, frozen=True, rename="camel"):
    """How many jobs ended in one way."""

    end: End
    jobs: int


class KindResult(msgspec.Struct, frozen=True, rename="camel"):
    """The jobs of one kind of page: what was expected of each, and how many ended how."""

    page: str
    workflow: str
    jobs: int
    expected: End
    actual: list[Share]

    @property
    def ok(self) -> bool:
        """Whether every job ended as expected."""
        return all(share.end == self.expected for share in self.actual)


class Astray(msgspec.Struct, frozen=True, rename="camel"):
    """A job that is not where it should be, and where it is."""

    job_id: str
    org_id: str
    url: str
    expected: str
    found: str


class GateCounts(msgspec.Struct, frozen=True, rename="camel"):
    """Over all completed jobs: ACKs expected and had, rows that can be read, and verdicts that the ACKs contradict."""

    completed: int
    expected: int
    acked: int
    readable: int
    violations: int


class Latency(msgspec.Struct, frozen=True, rename="camel"):
    """From submit to completed by the ledger's own times, the time in the org's queue included."""

    jobs: int
    p50_ms: float
    p99_ms: float


class Verified(msgspec.Struct, frozen=True, rename="camel"):
    """What the comparison of log and read model came to."""

    ok: bool
    events: int
    jobs: int
    faults: list[str]


class Summary(msgspec.Struct, frozen=True, rename="camel"):
    """One demo run."""

    ok: bool
    broker: str
    seconds: float  # from the first submission until the last job had ended
    orgs: list[str]
    jobs: int
    kinds: list[KindResult]
    astray: list[Astray]
    gate: GateCounts
    latency: Latency
    verify: Verified
    retried_job: str  # id of a job whose trace shows a retry; empty: there was none


def summary_of(outcomes: Sequence[Outcome], report: Report, *, broker: str, seconds: float) -> Summary:
    """Compare what was expected with what happened."""
    astray = [found for outcome in outcomes if (found := _astray(outcome))]
    gate = _gate(outcomes, report)
    verified = Verified(report.ok, report.events, report.jobs, [str(fault) for fault in report.faults[:SHOWN_FAULTS]])
    closed = gate.acked == gate.expected and gate.readable == gate.completed and not gate.violations
    return Summary(
        ok=not astray and closed and verified.ok,
        broker=broker,
        seconds=round(seconds, 2),
        orgs=sorted({outcome.job.org_id for outcome in outcomes}),
        jobs=len(outcomes),
        kinds=list(_kinds(outcomes)),
        astray=astray,
        gate=gate,
        latency=_latency(outcomes),
        verify=verified,
        retried_job=next((outcome.job.job_id for outcome in outcomes if _was_retried(outcome.job)), ""),
    )


def end_of(job: Job) -> End:
    """Return how a job ended, or the state it is in."""
    error_type = job.error_type or ""
    return End(job.status, error_type, rule_of(job) if error_type == "validation_failed" else "")


def expected_end(kind: PageKind) -> End:
    """Return how the jobs of a kind of page have to end."""
    return End(kind.state, kind.error_type, kind.rule)


def _astray(outcome: Outcome) -> Astray | None:
    job, kind = outcome.job, outcome.asked.kind
    wanted = str(expected_end(kind)) if kind else "an end"
    if job.status not in TERMINAL:
        found = standing(job)
    elif kind and end_of(job) != expected_end(kind):
        found = str(end_of(job))
    else:
        return None
    return Astray(job.job_id, job.org_id, outcome.asked.url, wanted, found)


def _kinds(outcomes: Sequence[Outcome]) -> Iterable[KindResult]:
    for kind in PAGE_KINDS:
        ends = Counter(end_of(outcome.job) for outcome in outcomes if outcome.asked.kind == kind)
        if ends:
            actual = [Share(end, count) for end, count in ends.most_common()]
            yield KindResult(kind.name, kind.workflow, ends.total(), expected_end(kind), actual)


def _gate(outcomes: Sequence[Outcome], report: Report) -> GateCounts:
    completed = [outcome for outcome in outcomes if outcome.job.status == "completed"]
    return GateCounts(
        completed=len(completed),
        expected=sum(outcome.job.gate.expected for outcome in completed),
        acked=sum(outcome.job.gate.acked for outcome in completed),
        readable=sum(outcome.readable for outcome in completed),
        violations=sum(fault.place == "gate_violations" for fault in report.faults),
    )


def _latency(outcomes: Sequence[Outcome]) -> Latency:
    taken = [
        milliseconds_between(outcome.job.created_at, outcome.job.completed_at)
        for outcome in outcomes
        if outcome.job.status == "completed" and outcome.job.completed_at
    ]
    return Latency(len(taken), round(percentile(taken, 0.5), 1), round(percentile(taken, 0.99), 1))


def _was_retried(job: Job) -> bool:
    return job.status == "completed" and any(visit.attempt > 2 for visit in job.execution_trace)
