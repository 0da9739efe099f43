"""Jobs as the API answers them, made for tests."""

from typing import Any

from api.answers import Gate, Job, TraceEntry, Transition

START = "2026-11-29T12:00:00.000000Z"


def at(milliseconds: int) -> str:
    """Return a moment of the first minute after START."""
    return f"2026-11-29T12:00:{milliseconds // 1000:02}.{milliseconds % 1000:03}000Z"


def visit(node: str, began: int, ended: int, **more: Any) -> TraceEntry:
    """Return a visit of a node, succeeded by default."""
    fields: dict[str, Any] = {
        "step": 0,
        "node": node,
        "kind": "service",
        "provider": None,
        "attempt": 1,
        "outcome": "succeeded",
        "status_code": None,
        "latency_ms": ended - began,
        "error_type": None,
        "error_message": None,
        "rule": None,
        "edge": None,
        "next_node": None,
        "started_at": at(began),
        "ended_at": at(ended),
    }
    return TraceEntry(**{**fields, **more})


def job(status: str = "completed", ended: int | None = 1500, **more: Any) -> Job:
    """Return a job that began at START and, unless told otherwise, has completed."""
    fields: dict[str, Any] = {
        "job_id": "job-1",
        "status": status,
        "org_id": "org-1",
        "workflow_id": "demo-plain",
        "version": 1,
        "domain": "shop.example",
        "url": "https://shop.example/1",
        "input": None,
        "metadata": None,
        "priority": 0,
        "attempt": 1,
        "error_type": None,
        "error_message": None,
        "rule": None,
        "failed_node": None,
        "schedule_id": None,
        "explain": None,
        "created_at": START,
        "updated_at": at(ended or 0),
        "completed_at": at(ended) if ended is not None else None,
        "data_state": "kept" if ended is not None else None,
        "expired_at": None,
        "transitions": [],
        "execution_trace": [],
        "gate": Gate(waived=[], expected=1, acked=1, pending=[], opened_by=["ack-1"], opened_at=at(ended or 0)),
    }
    return Job(**{**fields, **more})


def transition(status: str, milliseconds: int) -> Transition:
    """Return a change of status."""
    return Transition(status=status, at=at(milliseconds), attempt=1)
