"""What a demo run came to, against what was expected of it; pure: from outcomes to one summary."""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from api.answers import Job
from projections.verification.faults import Report
from services.cli.demo_kinds import PAGE_KINDS, PageKind
from services.cli.demo_outage import Outage
from services.cli.demo_processes import Readiness
from services.cli.demo_run import Outcome
from services.cli.demo_session import Session
from services.cli.drawing import rule_of, standing
from services.cli.spans import milliseconds_between, percentile
from services.ledger.status import TERMINAL

SHOWN_FAULTS = 20


class End(msgspec.Struct, frozen=True, rename="camel"):
    """How a job ended: state, class of error, and what caused it: a rule of the gate, or the last error met."""

    state: str
    error_type: str = ""
    cause: str = ""

    def __str__(self) -> str:
        error = f" {self.error_type}" if self.error_type else ""
        return f"{self.state}{error}{f' ({self.cause})' if self.cause else ''}"


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

    @property
    def ok(self) -> bool:
        """Whether nothing is missing and nothing was completed too early."""
        return self.acked == self.expected and self.readable == self.completed and not self.violations


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
    clickhouse: str  # how far ClickHouse was compared, or why it was not


class OrgResult(msgspec.Struct, frozen=True, rename="camel"):
    """One org of the run: where its extractions went, and why not to a destination that the demo wanted."""

    org_id: str
    jobs: int
    destinations: list[str]
    without: str = ""


class Summary(msgspec.Struct, frozen=True, rename="camel"):
    """One demo run; `outage` is null where no destination was down."""

    ok: bool
    broker: str
    seconds: float  # from the first submission until the last job had ended
    orgs: list[OrgResult]
    jobs: int
    kinds: list[KindResult]
    astray: list[Astray]
    gate: GateCounts
    outage: Outage | None
    latency: Latency
    verify: Verified
    readiness: Readiness
    retried_job: str  # id of a job whose trace shows retries; empty: there was none
    picture: str = ""  # file with the timeline of the run; empty: none was drawn
    no_picture: str = ""  # why
    look_next: list[str] = []  # commands to go on with
    links: list[str] = []  # a job and its extraction in the API


def summary_of(session: Session, report: Report, readiness: Readiness, broker: str) -> Summary:
    """Compare what was expected with what happened."""
    outcomes = session.outcomes
    astray = [found for outcome in outcomes if (found := _astray(outcome))]
    gate = _gate(outcomes, report)
    faults = [str(fault) for fault in report.faults[:SHOWN_FAULTS]]
    verified = Verified(report.ok, report.events, report.jobs, faults, report.clickhouse)
    waited = session.outage.ok if session.outage else not session.outage_planned
    shares = Counter(outcome.job.org_id for outcome in outcomes)
    return Summary(
        ok=not astray and gate.ok and verified.ok and waited and readiness.ok,
        broker=broker,
        seconds=round(session.seconds, 2),
        orgs=[OrgResult(org.org_id, shares[org.org_id], list(org.destinations), org.without) for org in session.orgs],
        jobs=len(outcomes),
        kinds=list(_kinds(outcomes)),
        astray=astray,
        gate=gate,
        outage=session.outage,
        latency=_latency(outcomes),
        verify=verified,
        readiness=readiness,
        retried_job=_retried_job(outcomes),
    )


def end_of(job: Job) -> End:
    """Return how a job ended, or the state it is in."""
    match job.error_type:
        case None:
            return End(job.status)
        case "validation_failed":
            return End(job.status, job.error_type, rule_of(job))
        case _:
            return End(job.status, job.error_type, _last_error(job))


def _last_error(job: Job) -> str:
    """Return the class of the last error that a node met; the failed node at the end only repeats the job's own."""
    met = (visit.error_type for visit in reversed(job.execution_trace) if visit.kind != "failed" and visit.error_type)
    return next(met, "")


def expected_end(kind: PageKind) -> End:
    """Return how the jobs of a kind of page have to end."""
    return End(kind.state, kind.error_type, kind.cause)


def _astray(outcome: Outcome) -> Astray | None:
    job, kind, url = outcome.job, outcome.asked.kind, outcome.asked.url
    wanted = str(expected_end(kind)) if kind else "an end"
    title = kind.title_of(url) if kind else None
    if job.status not in TERMINAL:
        found = standing(job)
    elif kind and end_of(job) != expected_end(kind):
        found = str(end_of(job))
    elif title and outcome.readable and outcome.title != title:
        wanted, found = f"the title {title!r}", f"the title {outcome.title!r}"
    else:
        return None
    return Astray(job.job_id, job.org_id, url, wanted, found)


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


def _retried_job(outcomes: Sequence[Outcome]) -> str:
    """Return the retried job that had to wait for most destinations: it shows most."""
    retried = [outcome.job for outcome in outcomes if _was_retried(outcome.job)]
    return max(retried, key=lambda job: job.gate.expected).job_id if retried else ""


def _was_retried(job: Job) -> bool:
    return job.status == "completed" and any(visit.attempt > 2 for visit in job.execution_trace)
