"""The pages of docs/ that are generated from code, as a whole or in parts."""

from pathlib import Path

from api import openapi
from api.routes.all import OPERATIONS
from schemas.generate import generated
from services.cli import demo_docs
from services.ledger.status import LIVE, TRANSITIONS, Status, diagram

ROOT = Path(__file__).parent.parent.parent
STATE_MACHINE_PAGE = ROOT / "docs" / "state_machine.md"
OPENAPI_PAGE = ROOT / "docs" / "openapi.json"
DEMO_PAGE = ROOT / "docs" / "demo.md"

MEANINGS: dict[Status, str] = {
    Status.PENDING: "accepted; in its org's queue, or dispatched and not yet claimed",
    Status.RUNNING: "claimed: one worker walks its workflow under a lease",
    Status.WAITING_RETRY: "a node wants to be tried again later; holds no slot and no lease, has a date",
    Status.EXTRACTION_DONE: "the data is extracted; ACKs of gating destinations are missing",
    Status.COMPLETED: "every gating destination has acknowledged; result and delivery rows are readable",
    Status.FAILED: "ended without a result; `errorType` says why",
    Status.CANCELLED: "ended by the caller",
    Status.TIMED_OUT: "ended by its run-time limit (spider jobs)",
    Status.LOST: "its machine is gone and the outcome unknown (spider jobs)",
}
OTHER_EVENTS = """\
All other events about a job leave its state as it is. A terminal state is final: what comes later (a report of a stale
worker, a late ACK) is recorded as `ReportRefused` or `DeliveryAcked` and changes nothing else. `JobDispatched` takes a
slot of the org's cap; the job stays `pending` (or `waiting_retry`) until a worker's claim is recorded. A lost worker
brings its job back to `pending`; finished nodes are not done again."""


def pages() -> dict[Path, str]:
    """Return the text of every generated page by its path."""
    return {
        **generated(),
        STATE_MACHINE_PAGE: state_machine_page(),
        OPENAPI_PAGE: openapi.text(OPERATIONS),
        DEMO_PAGE: demo_docs.renewed(DEMO_PAGE.read_text()),
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
        ]
    )
