"""The walk of a job through its workflow, one node at a time: from an outcome to what is next."""

import hashlib
from dataclasses import dataclass
from typing import assert_never

import msgspec

from services.ledger.workflow import (
    FailedNode,
    Node,
    ResultNode,
    ServiceNode,
    ServiceSettings,
    Workflow,
    entry_of,
    next_node,
    node_of,
)
from services.workers.trail import passed

MAX_RETRY_AFTER_MS = 3_600_000  # a server that asks for more is asked again after an hour
MIN_SPREAD_MS = 3_000  # over which jobs come back that were told the same Retry-After
MAX_HELD_DELAY_MS = 5_000  # an instant retry told to wait longer gives its slot back


class Failures(msgspec.Struct, frozen=True):
    """How the exhausted branches of a walk ended so far."""

    saw_verdict: bool = False  # a branch ended in a verdict of the gate
    saw_error: bool = False  # a branch ended in a provider error
    rule: str = ""  # of the last verdict; empty after a resume, which keeps the two flags only
    message: str = ""  # of the last failure


class Point(msgspec.Struct, frozen=True):
    """Where a walk stands, small enough to travel in a task: the node to run and what happened before it."""

    node_id: str
    try_number: int = 1  # of the coming try at this node
    failures: Failures = Failures()


@dataclass(frozen=True, slots=True)
class Passed:
    """The node did its work."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The provider answered or the extractor read, and a validation rule refuses it."""

    rule: str
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Errored:
    """The provider did not answer as it should."""

    error_type: str
    message: str = ""
    retryable: bool = False
    retry_after_seconds: float | None = None


NodeOutcome = Passed | Refused | Errored


@dataclass(frozen=True, slots=True)
class Continue:
    """Run the node of `point`."""

    point: Point


@dataclass(frozen=True, slots=True)
class Retry:
    """Run the same node again after a delay: deferred in waiting_retry, else in place."""

    point: Point
    delay_ms: int
    deferred: bool


@dataclass(frozen=True, slots=True)
class Finished:
    """The walk ended well at `node_id`."""

    node_id: str


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The walk ended badly; `node_id` is the last node that took its fail edge or had none."""

    error_type: str  # validation_failed or providers_exhausted
    rule: str  # of the last verdict, for validation_failed
    node_id: str
    message: str = ""


Step = Continue | Retry | Finished | Exhausted


def begin(workflow: Workflow, job_id: str) -> Continue | Finished | Exhausted:
    """Return the first step of a walk."""
    entry = entry_of(workflow)
    return _arrive(workflow, entry, job_id, Failures(), entry.id)


def after(workflow: Workflow, point: Point, outcome: NodeOutcome, job_id: str) -> Step:
    """Return what follows when the node of `point` ended with an outcome."""
    node = node_of(workflow, point.node_id)
    match outcome:
        case Passed():
            target = next_node(workflow, node.id, "success")
            if target is None:
                return Finished(node.id)
            return _arrive(workflow, target, job_id, point.failures, node.id)
        case Errored(retryable=True) if isinstance(node, ServiceNode) and point.try_number < node.settings.retries:
            return _retry(node.settings, point, outcome, job_id)
        case Errored():
            return _fail(workflow, node, job_id, _with_error(point.failures, outcome))
        case Refused():
            return _fail(workflow, node, job_id, _with_verdict(point.failures, outcome))
        case _:
            assert_never(outcome)


def retry_delay_ms(
    settings: ServiceSettings, failed_tries: int, retry_after_seconds: float | None, job_id: str, node_id: str
) -> int:
    """Return the wait after `failed_tries` failed tries: backoff with jitter, and never less than Retry-After asks.

    The jitter moves the backoff both ways and Retry-After only up, over three seconds or more, so that jobs told the
    same time do not come back together; it is a pure function of job, node and try.
    """
    share = _share(job_id, node_id, failed_tries)
    delay = 0.0
    if settings.retry_backoff == "deferred":
        growth = settings.factor ** min(failed_tries - 1, 64)
        delay = min(settings.retry_delay_ms * growth, settings.max_delay_ms) * (1 + settings.jitter * (2 * share - 1))
    if retry_after_seconds is not None:
        floor = min(max(retry_after_seconds, 0.0) * 1000, MAX_RETRY_AFTER_MS)
        delay = max(delay, floor + share * max(floor * settings.jitter, MIN_SPREAD_MS if settings.jitter else 0))
    return round(delay)


def _retry(settings: ServiceSettings, point: Point, error: Errored, job_id: str) -> Retry:
    delay = retry_delay_ms(settings, point.try_number, error.retry_after_seconds, job_id, point.node_id)
    deferred = settings.retry_backoff == "deferred" or delay > MAX_HELD_DELAY_MS
    return Retry(Point(point.node_id, point.try_number + 1, point.failures), delay, deferred)


def _fail(workflow: Workflow, node: Node, job_id: str, failures: Failures) -> Continue | Finished | Exhausted:
    target = next_node(workflow, node.id, "fail")
    return _exhausted(failures, node.id) if target is None else _arrive(workflow, target, job_id, failures, node.id)


def _arrive(
    workflow: Workflow, node: Node, job_id: str, failures: Failures, came_from: str
) -> Continue | Finished | Exhausted:
    """Go through the nodes that have no work of their own until one has, or the walk ends."""
    trail = passed(workflow, node, job_id)
    if not trail:
        return Continue(Point(node.id, 1, failures))
    end = trail[-1]
    if end.target is not None:
        return Continue(Point(end.target.id, 1, failures))
    match end.node:
        case ResultNode():
            return Finished(end.node.id)
        case FailedNode():
            return _exhausted(_or_led(failures, came_from, end.node), came_from)
        case _:  # an entry without an edge, which no document that was checked has
            return _exhausted(failures, end.node.id)


def _with_error(failures: Failures, error: Errored) -> Failures:
    message = f"{error.error_type}: {error.message}" if error.message else error.error_type
    return Failures(failures.saw_verdict, True, failures.rule, message)


def _with_verdict(failures: Failures, refused: Refused) -> Failures:
    message = f"{refused.rule}: {refused.evidence}" if refused.evidence else refused.rule
    return Failures(True, failures.saw_error, refused.rule, message)


def _or_led(failures: Failures, came_from: str, failed: Node) -> Failures:
    """Say that the document itself led to a failed node, where no branch failed before."""
    if failures.saw_verdict or failures.saw_error:
        return failures
    return Failures(message=f"the workflow leads from {came_from!r} to {failed.id!r}, and no provider failed before")


def _exhausted(failures: Failures, node_id: str) -> Exhausted:
    if failures.saw_verdict and not failures.saw_error:
        return Exhausted("validation_failed", failures.rule, node_id, failures.message)
    return Exhausted("providers_exhausted", "", node_id, failures.message)


def _share(job_id: str, node_id: str, tries: int) -> float:
    hashed = hashlib.sha256(f"{job_id}\0{node_id}\0{tries}".encode()).digest()
    return int.from_bytes(hashed[:8], "big") / 2**64
