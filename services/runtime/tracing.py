"""Spans of jobs for an OTLP receiver (JOBLEDGER_OTLP): one trace for each job, whoever tells of it. Off by default.

The id of a job's trace is the job's own id, and the id of a span follows from what it is of. So every process tells of
the same trace without having been handed it, schedules, timers and redeliveries of next month included, and a span that
is told twice is the same one (docs/tracing.md). Attributes are ids, numbers and words of small sets: no urls, no texts.
"""

import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from services.runtime.errors import SettingsError
from services.runtime.ids import is_uuid
from services.runtime.settings import Settings
from services.runtime.time import now_micros

RANDOM_BITS = 56  # of a trace id that say whether a job is among the share that is told of
ROOT = "job"
Attribute = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Span:
    """Something that was done for a job; times in microseconds UTC."""

    job_id: str
    name: str
    key: str  # which one of this name within the job
    began: int
    ended: int
    attributes: Mapping[str, Attribute]
    parent: tuple[str, str] = (ROOT, "")  # name and key of another span of the job; a root has itself
    failed: bool = False
    caller: str = ""  # W3C trace context of whom it was done for

    @property
    def is_root(self) -> bool:
        """Whether this is the whole job."""
        return self.name == ROOT


Tell = Callable[[Span], None]
_tell: Tell | None = None
_below = 0  # of the random bits of trace ids: the share of jobs that is told of


def on() -> bool:
    """Whether spans are told at all: what costs something to put together is left out otherwise."""
    return _tell is not None


def traced(job_id: str) -> bool:
    """Whether spans of this job are told."""
    return _tell is not None and bool(job_id) and trace_id(job_id) % (1 << RANDOM_BITS) < _below


def span(span: Span) -> None:
    """Tell of something that was done, if its job is traced."""
    if _tell is not None and traced(span.job_id):
        _tell(span)


def trace_id(job_id: str) -> int:
    """Return the id of the trace of a job: its own id; of one that is no UUID, a digest of it."""
    return uuid.UUID(job_id).int if is_uuid(job_id) else _digest(job_id, 16)


def span_id(job_id: str, name: str, key: str = "") -> int:
    """Return the id of a span of a job."""
    return _digest(f"{job_id}\0{name}\0{key}", 8)


def clock() -> int:
    """Return the time as spans have it; 0 while none is told."""
    return now_micros() if _tell is not None else 0


@contextmanager
def telling(settings: Settings, service: str) -> Iterator[None]:
    """Tell spans as the settings say, until the end; SettingsError where what that needs is not installed."""
    if not settings.otlp:
        yield
        return
    try:
        from services.runtime.otlp import Exporting
    except ModuleNotFoundError as missing:
        raise SettingsError(
            f"JOBLEDGER_OTLP needs the extra `tracing` ({missing.name} is missing): pip install 'jobledger[tracing]'"
        ) from None
    exporting = Exporting(settings.otlp, service)
    with told_to(exporting.tell, settings.trace_share):
        try:
            yield
        finally:
            exporting.close()


@contextmanager
def told_to(tell: Tell, share: float = 1.0) -> Iterator[None]:
    """Hand the spans of that share of jobs to a function."""
    global _tell, _below
    _tell, _below = tell, round(share * (1 << RANDOM_BITS))
    try:
        yield
    finally:
        _tell, _below = None, 0


def _digest(text: str, size: int) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=size).digest(), "big")
