"""The trace of a walk: a report for each node, numbered through the job, held until it is told."""

from typing import assert_never

from schemas.values import NodeOutcome
from services.ledger.reports import NodeReport
from services.ledger.workflow import FailedNode, Node, ServiceNode, Workflow, node_of
from services.workers import walk
from services.workers.job import private
from services.workers.steps import Visit
from services.workers.trail import Passage, leave, passed
from services.workers.walk import Errored, Exhausted, Passed, Point, Refused, Retry, Step

WORKLESS = ("entry", "split")


class Notes:
    """What of one attempt was not told yet."""

    def __init__(self, workflow: Workflow, job_id: str, next_step: int) -> None:
        self._workflow = workflow
        self._job_id = job_id
        self._held: list[NodeReport] = []
        self._fell = False  # the node with work that was left last was left by its fail edge
        self.next_step = next_step  # ordinal of the next node visit within the job

    def passed(self, node: Node | None, failed: str = "") -> None:
        """Note the nodes without work from `node` on; `failed` is what a failed node among them failed the job for."""
        for passage in passed(self._workflow, node, self._job_id):
            bad = isinstance(passage.node, FailedNode)
            outcome = NodeOutcome.FAILED if bad else NodeOutcome.SUCCEEDED
            self._note(passage, Visit(Passed()), 1, outcome, failed if bad else "", "", "")

    def visited(self, point: Point, seen: Visit, step: Step) -> None:
        """Note a visit, and the nodes passed after it on the way that `step` takes."""
        node = node_of(self._workflow, point.node_id)
        if isinstance(step, Retry):
            passage = Passage(node, None, None)
        else:
            passage = leave(self._workflow, node, "success" if isinstance(seen.outcome, Passed) else "fail")
        self._fell = passage.edge == "fail"
        self._note(passage, seen, point.try_number, *_told(seen.outcome))
        self.passed(passage.target, step.error_type if isinstance(step, Exhausted) else "")

    def worth_telling(self) -> bool:
        """Whether a node with work is held; an entry alone waits for the first of them."""
        return any(report.node_kind not in WORKLESS for report in self._held)

    def may_cost(self) -> bool:
        """Whether the call that comes next may cost more than the job; a resumed one is paid."""
        return any(report.next_renders or report.next_is_fallback for report in self._held[-1:])

    def take(self) -> tuple[NodeReport, ...]:
        """Take out what is held."""
        held, self._held = tuple(self._held), []
        return held

    def _note(
        self,
        passage: Passage,
        seen: Visit,
        try_number: int,
        outcome: NodeOutcome,
        error_type: str,
        rule: str,
        message: str,
    ) -> None:
        calls = passage.target if isinstance(passage.target, ServiceNode) else None
        self._held.append(
            NodeReport(
                step=self.next_step,
                node_id=passage.node.id,
                node_kind=kind_of(passage.node),
                provider=seen.provider,
                try_number=try_number,
                outcome=outcome,
                status_code=seen.status_code,
                error_type=error_type,
                rule=rule,
                edge=passage.edge or "",
                next_node_id=passage.target.id if passage.target else "",
                latency_ms=seen.latency_ms,
                body_ref=seen.body_ref,
                content_type=seen.content_type,
                body_bytes=seen.body_bytes,
                private=private(message=message, final_url=seen.final_url),
                next_renders=calls is not None and calls.settings.render_js,
                next_is_fallback=calls is not None and self._fell,
            )
        )
        self.next_step += 1


def kind_of(node: Node) -> str:
    """Return what kind of node this is, as the workflow document says it."""
    return str(node.__struct_config__.tag)


def _told(outcome: walk.NodeOutcome) -> tuple[NodeOutcome, str, str, str]:
    """Return outcome, error type, rule and message as a report says them."""
    match outcome:
        case Passed():
            return NodeOutcome.SUCCEEDED, "", "", ""
        case Refused():
            return NodeOutcome.REFUSED, "validation_failed", outcome.rule, outcome.evidence
        case Errored():
            return NodeOutcome.FAILED, outcome.error_type, "", outcome.message
        case _:
            assert_never(outcome)
