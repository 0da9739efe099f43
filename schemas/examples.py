"""An example of every event type, for documents: the same at every call, and legal one by one."""

import inspect
import uuid
from enum import StrEnum
from typing import Any, get_args, get_origin, get_type_hints

from msgspec import Struct

from schemas.event import Event
from schemas.events import EVENT_TYPES
from schemas.private import private_bytes
from schemas.recorded import Header, Recorded

AT = 1_793_000_000_123_457  # microseconds since 1970-01-01 UTC
ABOUT_A_PARTITION = frozenset({"WriterOpened", "PositionMarked", "JobsArchived", "WorkerAlive", "WorkerLost"})
ABOUT_A_JOB = (
    "Job",
    "Node",
    "Items",
    "Retry",
    "Report",
    "Stats",
    "Delivery",
)  # begin the names of their types
JOB_ID = "0197a2b4-7c1e-7a3b-9d10-5b6c7d8e9f00"
SAYING: dict[str, Any] = {
    "actor": "worker:worker-1",
    "body_ref": f"bodies/acme/{JOB_ID}/1/0",
    "boot_id": "0197a2b0-1111-7222-8333-444455556666",
    "content_type": "text/html",
    "correlation_id": "req-7f3a",
    "destination_id": "internal",
    "domain": "shop.example",
    "event_id": uuid.UUID("0197a2b4-8000-7000-8000-000000000001").bytes,
    "items_ref": f"acme/{JOB_ID}/1/items-1-0",
    "job_ids": (JOB_ID,),
    "kind": "workflow",
    "lines_ref": f"acme/{JOB_ID}/1/log-0",
    "opened_by": (uuid.UUID("0197a2b4-7fff-7000-8000-000000000001").bytes,),
    "partition": 4,
    "place": "extraction.extraction_results",
    "plan_ref": f"acme/{JOB_ID}/1/items-plan",
    "position": 4711,
    "prev_hash": bytes(32),
    "result_ref": f"results/acme/{JOB_ID}",
    "status_code": 200,
    "traceparent": "",
    "worker_id": "worker-1",
    "workflow_id": "product-page",
    "workflow_ref": "workflows/acme/product-page/3",
    "writer_id": "postgres-1",
}
PRIVATE: dict[str, dict[str, Any]] = {
    "JobSubmitted": {"url": "https://shop.example/p/1", "input": {}, "metadata": {"batch": "7"}},
    "JobFailed": {"message": "every provider failed"},
}


def example(event_type: str) -> Recorded:
    """Return an event of a type as it could stand in the log."""
    cls = EVENT_TYPES[event_type]
    own = [name for name in cls.__struct_fields__ if name not in Event.__struct_fields__]
    about_job = event_type.startswith(ABOUT_A_JOB) and event_type not in ABOUT_A_PARTITION
    event = cls(
        org_id="" if event_type in ABOUT_A_PARTITION else "acme",
        job_id=JOB_ID if about_job else "",
        attempt=int(about_job),
        private=private_bytes(PRIVATE.get(event_type, {})),
        **_said(cls, own),
    )
    header = Header(**{**_said(Header, list(Header.__struct_fields__)), "event_type": event_type})
    return Recorded(header, event)


def _said(cls: type[Struct], names: list[str]) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {name: SAYING[name] if _fits(hints[name], name) else _value(hints[name], name) for name in names}


def _fits(hint: Any, name: str) -> bool:
    said = SAYING.get(name)
    return said is not None and (get_origin(hint) or hint) is type(said)


def _value(hint: Any, name: str) -> Any:
    """Return a value for a field that nothing is said of."""
    if get_origin(hint) is tuple:
        return (_value(get_args(hint)[0], name),)
    if inspect.isclass(hint) and issubclass(hint, StrEnum):
        return list(hint)[1]  # the first is `unknown`
    if inspect.isclass(hint) and issubclass(hint, Struct):
        return hint(**_said(hint, list(hint.__struct_fields__)))
    if hint is int and name.endswith("_at"):
        return AT
    return {str: "", int: 1, bool: False, float: 0.5, bytes: bytes(16)}[hint]
