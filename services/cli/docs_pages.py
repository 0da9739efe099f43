"""The pages of docs/ that are generated from code, as a whole or in parts."""

from pathlib import Path

from api import asyncapi, openapi
from api.routes.all import OPERATIONS
from schemas.generate import generated
from services.cli import demo_docs, docs_cases, docs_questions, docs_workflows
from services.cli.docs_limits import limits_page
from services.cli.docs_metrics import metrics_page
from services.cli.docs_operations import operations_dashboard
from services.cli.docs_vocabularies import vocabularies_page
from services.ledger.status import LIVE, TRANSITIONS, Status, diagram
from services.ledger.workflow_schema import schema_text
from services.runtime.settings import Settings

ROOT = Path(__file__).parent.parent.parent
STATE_MACHINE_PAGE = ROOT / "docs" / "state_machine.md"
OPENAPI_PAGE = ROOT / "docs" / "openapi.json"
ASYNCAPI_PAGE = ROOT / "docs" / "asyncapi.json"
LIMITS_PAGE = ROOT / "docs" / "limits.md"
METRICS_PAGE = ROOT / "docs" / "metrics.md"
OPERATIONS_DASHBOARD = ROOT / "deploy" / "grafana" / "dashboards" / "operations.json"
DEMO_PAGE = ROOT / "docs" / "demo.md"
WORKFLOWS_PAGE = ROOT / "docs" / "workflows.md"
QUESTIONS_PAGE = ROOT / "docs" / "bi.md"
VOCABULARIES_PAGE = ROOT / "docs" / "vocabularies.md"
WORKFLOW_SCHEMA = ROOT / "docs" / "workflow.schema.json"

MEANINGS: dict[Status, str] = {
    Status.PENDING: "accepted; in its org's queue, or dispatched and not yet claimed",
    Status.RUNNING: "claimed: one worker walks its workflow under a lease",
    Status.WAITING_RETRY: "a node wants to be tried again later; holds no slot and no lease, has a date",
    Status.EXTRACTION_DONE: "the data is extracted; ACKs of gating destinations are missing",
    Status.COMPLETED: "every gating destination has acknowledged or was waived; result and rows are readable",
    Status.FAILED: "ended without a result; `errorType` says why",
    Status.CANCELLED: "ended by the caller; its `errorType` is `cancelled` too",
    Status.TIMED_OUT: "ended by its run-time limit (spider jobs)",
    Status.LOST: "its machine is gone and the outcome unknown (spider jobs)",
}
OTHER_EVENTS = """\
All other events about a job leave its state as it is. A terminal state is final: what comes later (a report of a stale
worker, a late ACK) is recorded as `ReportRefused` or `DeliveryAcked` and changes nothing else. `JobDispatched` takes a
slot of the org's cap; the job stays `pending` (or `waiting_retry`) until a worker's claim is recorded. A lost worker
brings its job back to `pending`; finished nodes are not done again. A pending job that nobody has claimed within its
time in the [queue](queue.md) fails with `queue_expired`; one that was claimed before does not.

**Claim.** A task is claimed once: with a claim all tasks that had been sent for the job are spent, and a claim that
names one of them is refused, but for the owner, who is told the same grant again while it runs the job. A worker asks
until it is answered, and a task is refused only once another claim has spent it, or the job has ended. So a worker
that lives either begins what it was granted or still asks for it, whatever answers are lost, and however often or late
a claim lands: no job has to be taken from a worker because a grant may have been lost, and none is. It is taken from
one that was silent for its lease (`WorkerLost`), and handed back by one that stops. A word to a worker that it has
lost a job names the position at which that was so; a worker that was granted the job later leaves it alone."""

GATE = """\
## The gate

Which destinations a job has, which of them gate, and what each does when it is given up is frozen at submit. The job
waits in `extraction_done` until each gating destination's part of the gate is open: by its first ACK, or by a waiver
(`DeliveryWaived`). `JobCompleted` follows in the same transaction as the last of them and names the event that opened
each part. What comes later (a repeated or late ACK, an ACK after a waiver) is recorded and opens nothing again. A job
without a gating destination is completed with its extraction.

| what happens to a gating delivery | `on_exhausted` = hold | waive | fail |
|---|---|---|---|
| tries used up, or refused for good | held for a person | waived, `exhausted` | failed, `delivery_failed` |
| its destination was closed | waived, `destination_closed` | waived, `destination_closed` | failed, `delivery_failed` |
| no ACK until the deadline | failed, `gate_deadline` | waived, `gate_deadline` | failed, `gate_deadline` |
| a person waives it | waived, `requested` | waived, `requested` | waived, `requested` |

A destination is closed that was deleted or disabled since submit, or that answered 410. A held job waits for a person
to redeliver or to waive, until its deadline.

The deadline is the destination's `gateSeconds`, or else `JOBLEDGER_GATE_DEADLINE_SECONDS` (72 h: longer than all tries
together, which take 31 h, and than a weekend), counted from the moment at which the delivery was asked for; a
redelivery has the whole time again. So no job waits for ever, and while it waits there is a date. `JobFailed` names the
destination. Who makes the schedule longer than that makes the deadline longer too.
Every verdict counts `jobledger_gate_verdicts_total{verdict,reason}` and every delivery given up
`jobledger_deliveries_given_up_total{closed}`: alarm on both.

A destination that is added after submit is one of later jobs, and never of one that is under way. One that is changed
keeps its policy for jobs under way, whether they wait for it included; a webhook's new url is used at once. A
store (ClickHouse) that is removed from an org still gets what jobs under way owe it. Deliveries that do not gate are
tried by the same schedule, before and after the end of the job, and lead to no verdict. Endpoints are tried as
`JOBLEDGER_WEBHOOK_RETRY_SCHEDULE` says, stores as `JOBLEDGER_DELIVERY_RETRY_SCHEDULE`; a changed one holds for failures
to come.

`GET /api/v1/jobs/{id}/deliveries` and `jobledger deliveries list JOB` show each delivery with its tries, last error,
next try and what arrived where (`1240 -> db.table`); `jobledger deliveries redeliver` and `waive JOB DESTINATION` do
what the calls of these names do.

**Outages.** While a store is down its writer waits in place: it tries one batch, ever more rarely
(`jobledger_circuit_open{destination_kind}` is 1), and nothing is given up for it. What nobody answers is sent again,
later and later, but no more than 500 of it are out at a time, for each partition and each place that fails by itself
(a store of ours, an endpoint of an org). The rest stands in line (`jobledger_deliveries_overdue`): each answer lets
the next one go, so the backlog drains as fast as the writer takes it, and what is fresh never stands in that line.
Neither does it stand behind first tries that piled up on the topic: a writer takes of what it has of all orgs (stores
of ours), endpoints or destinations in turn, and where one of them has more waiting than a batch (endpoints: 2,000),
it leaves first tries that are overdue to that line and reads on. No job waits longer than its gate for that. Up to a
tenth is added to each wait, so that no crowd comes at once; a step of the decider fires 2,000 waits at most, and then
takes commands again.

A redelivery is a new generation: writers replace a row only by the same or a newer generation, and a webhook has the
`webhook-id` and the bytes of the first. An ACK of an older generation than the newest is dropped. A job that failed
or was cancelled has nothing to deliver but the notice of its failure."""


def pages() -> dict[Path, str]:
    """Return the text of every generated page by its path."""
    return {
        **generated(),
        STATE_MACHINE_PAGE: state_machine_page(),
        OPENAPI_PAGE: openapi.text(OPERATIONS),
        ASYNCAPI_PAGE: asyncapi.text(),
        LIMITS_PAGE: limits_page(Settings("", "", "", "")),
        METRICS_PAGE: metrics_page(),
        OPERATIONS_DASHBOARD: operations_dashboard(),
        DEMO_PAGE: demo_docs.renewed(DEMO_PAGE.read_text()),
        WORKFLOWS_PAGE: docs_workflows.renewed(WORKFLOWS_PAGE.read_text()),
        VOCABULARIES_PAGE: vocabularies_page(),
        WORKFLOW_SCHEMA: schema_text(),
        QUESTIONS_PAGE: docs_questions.renewed(QUESTIONS_PAGE.read_text()),
        **docs_questions.dashboards(ROOT),
    }


def state_machine_page() -> str:
    """Return the page on the states of a job."""
    states = [
        f"| `{status}` | {'no' if status in LIVE else 'yes'} | {meaning} |" for status, meaning in MEANINGS.items()
    ]
    moves = [
        f"| {event.__name__} | {', '.join(sorted(str(s) if s else '(none)' for s in sources))} | {target} |"
        for event, (sources, target) in TRANSITIONS.items()
    ]
    return "\n".join(
        [
            "# States of a job",
            "",
            "Generated from `services/ledger/status.py` by `python -m services.cli.docs_check --write`; do not edit.",
            "",
            "```mermaid",
            diagram(),
            "```",
            "",
            "| state | terminal | meaning |",
            "|---|---|---|",
            *states,
            "",
            "## Events that change the state",
            "",
            "| event | from | to |",
            "|---|---|---|",
            *moves,
            "",
            OTHER_EVENTS,
            "",
            docs_cases.section(),
            "",
            GATE,
            "",
        ]
    )
