"""What a worker did for a job, as spans: the attempt, its claim, and each visit of a node."""

from services.ledger.reports import NodeReport
from services.ledger.tasks import Task
from services.runtime.tracing import Attribute, Span, clock, on, span

ATTEMPT = "attempt"


def claimed(task: Task, attempt: int, began: int) -> None:
    """Tell of a claim that was granted; times in microseconds UTC."""
    if on():
        told: dict[str, Attribute] = {"org_id": task.org_id, "partition": task.partition, "dispatch": task.dispatch}
        span(Span(task.job_id, "claim", str(attempt), began, clock(), told, (ATTEMPT, str(attempt))))


def attempted(task: Task, attempt: int, worker_id: str, began: int) -> None:
    """Tell of an attempt that is over, however it ended."""
    if on():
        told: dict[str, Attribute] = {"org_id": task.org_id, "attempt": attempt, "worker_id": worker_id}
        told |= {"vocabulary": task.vocabulary.value, "module": task.module}
        span(Span(task.job_id, ATTEMPT, str(attempt), began, clock(), told))


def visited(task: Task, attempt: int, nodes: tuple[NodeReport, ...]) -> None:
    """Tell of visits that have just been reported: the last of them ended now, each other as the next one began."""
    if not on():
        return
    ended = clock()
    for node in reversed(nodes):
        began = ended - node.latency_ms * 1000
        told: dict[str, Attribute] = {
            "org_id": task.org_id,
            "attempt": attempt,
            "step": node.step,
            "node_id": node.node_id,
            "node_kind": node.node_kind,
            "provider": node.provider,
            "try_number": node.try_number,
            "outcome": node.outcome.value,
            "status_code": node.status_code,
            "error_type": node.error_type,
            "rule": node.rule,
            "edge": node.edge,
            "body_bytes": node.body_bytes,
        }
        key, parent = f"{attempt}/{node.step}", (ATTEMPT, str(attempt))
        span(Span(task.job_id, "node", key, began, ended, told, parent, failed=bool(node.error_type)))
        ended = began
