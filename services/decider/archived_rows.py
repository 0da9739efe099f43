"""From rows of the read model to a job as the decider has it. Pure.

What no decision about an ended job looks at is left at its default: who ran it, and how often it was lost.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from schemas.events import JobExtracted, JobFailed
from schemas.values import Destination, Vocabulary
from services.ledger.delivery import DeliveryState, DeliveryStatus
from services.ledger.erasure import STORE, STORE_KIND
from services.ledger.items import Items
from services.ledger.job import Job
from services.ledger.job_parts import Ending, Run, Terms, share
from services.ledger.status import Status
from services.ledger.tasks import Resume

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STATES = {
    "requested": DeliveryState.REQUESTED,
    "waiting": DeliveryState.WAITING,
    "acked": DeliveryState.ACKED,
    "dead_lettered": DeliveryState.DEAD,
    "waived": DeliveryState.WAIVED,
}
Columns = Mapping[str, Any]


def job_of(row: Columns, deliveries: Sequence[Columns]) -> Job:
    """Return an ended job of its row and those of its deliveries, each destination's generations in their order."""
    destinations = msgspec.convert(row["destinations"], tuple[Destination, ...])
    vocabulary = Vocabulary(row["vocabulary"])
    terms = Terms(
        row["org_id"],
        vocabulary,
        row["workflow_ref"],
        row["priority"],
        row["max_run_seconds"],
        destinations,
        workflow_id=row["workflow_id"] if vocabulary is Vocabulary.MODULE else "",  # what goes on from it needs it
        item_credits=row["item_credits"],
    )
    items = None if row["progress"] is None else msgspec.convert(row["progress"], Items)
    run = Run(
        boot_id=row["boot_id"],
        resume=Resume(step=row["step"], items=items),
        first_claimed_at=_micros(row["claimed_at"]),
        claimed_at=_micros(row["claimed_at"]),
        extracted_at=_micros(row["extracted_at"]),
        extracted=_extracted(row) if row["extracted_at"] else None,
        deliveries=_deliveries(destinations, deliveries),
    )
    ending = Ending(
        correlation_id=row["ended_for"],
        at=_micros(row["finished_at"]),
        position=row["ended_position"],
        expired_at=_micros(row["expired_at"]),
        failed=_failed(row) if row["status"] == Status.FAILED else None,
    )
    return Job(
        terms=share(terms),
        job_id=row["job_id"],
        domain=row["domain"],
        private=bytes(row["private"]),
        submitted_at=_micros(row["submitted_at"]),
        status=Status(row["status"]),
        seq=row["seq"],
        attempt=row["attempt"],
        dispatch=row["dispatches"],
        run=run,
        ending=ending,
    )


def deleted_job(row: Columns) -> Job:
    """Return a deleted job of what stayed of it."""
    at = _micros(row["deleted_at"])
    store = Destination(destination_id=STORE, kind=STORE_KIND, gating=False)
    erased = DeliveryStatus(store, row["erasures"], 1, DeliveryState.ACKED, at, requested_at=at, erase=True)
    return Job(
        terms=share(Terms(row["org_id"], Vocabulary.UNKNOWN, "", 0, 0, ())),
        job_id=row["job_id"],
        domain="",
        private=b"",
        submitted_at=at,
        status=Status(row["status"]),
        seq=row["seq"],
        attempt=row["attempt"],
        run=Run(boot_id=row["boot_id"], deliveries=(erased,) if row["erasures"] else ()),
        ending=Ending(at=at, deleted=True),
    )


def _deliveries(destinations: Sequence[Destination], rows: Sequence[Columns]) -> tuple[DeliveryStatus, ...]:
    known = {destination.destination_id: destination for destination in destinations}
    newest: dict[str, DeliveryStatus] = {}
    opened: dict[str, tuple[int, bytes]] = {}  # by destination: the first ACK or waiver, of any generation
    for row in rows:
        name = row["destination_id"]
        for seq, event_id in ((row["ack_seq"], row["ack_event_id"]), (row["waive_seq"], row["waive_event_id"])):
            if event_id is not None:
                opened[name] = min(opened.get(name, (seq, event_id.bytes)), (seq, event_id.bytes))
        requested_at = _micros(row["requested_at"])
        newest[name] = DeliveryStatus(
            known.get(name) or Destination(destination_id=name, kind=row["kind"], gating=False),
            row["generation"],
            row["tries"],
            STATES[row["status"]],
            _micros(row["acked_at"] or row["waived_at"]) or requested_at,
            next_try_at=_micros(row["next_try_at"]),
            requested_at=requested_at,
            opened_by=opened.get(name, (0, b""))[1],
            erase=row["erase"],
        )
    return tuple(newest.values())


def _extracted(row: Columns) -> JobExtracted:
    same = ("org_id", "job_id", "attempt", "result_ref", "content_type", "result_bytes", "extraction_ref", "schema_id")
    more = ("data_type", "items", "quality_completeness", "quality_validation", "quality_composite", "latency_ms")
    return JobExtracted(**{name: row[name] for name in same + more})


def _failed(row: Columns) -> JobFailed:
    same = ("org_id", "job_id", "attempt", "error_type", "rule", "node_id", "destination_id")
    return JobFailed(**{name: row[name] for name in same})


def _micros(at: datetime | None) -> int:
    return (at - EPOCH) // timedelta(microseconds=1) if at else 0
