"""A varied history for the views: played streams, spread over hours, workflows, domains, providers and errors.

Some of it moves balances, some comes late or twice.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from schemas.credit_events import CreditsGranted, CreditsHeld, CreditsReleased
from schemas.events import (
    AnyEvent,
    DeliveryFailed,
    JobDeleted,
    JobFailed,
    JobSubmitted,
    NodeFinished,
    RetryBroughtForward,
    RetryScheduled,
)
from schemas.recorded import Recorded
from services.runtime.settings import Settings
from tests.delivery_streams import acknowledge, requested
from tests.event_streams import START, Stream
from tests.integration.clickhouse.projecting import play, streams_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
STRETCH = 7_919  # so many times as long between two events as in the stream: some ten seconds, and odd
PROVIDERS = ("direct", "zyte", "oxylabs")
Jobs = dict[tuple[str, str], list[Recorded]]


def history(settings: Settings, seed: int, length: int = 700) -> list[Stream]:
    """Return two partitions' worth of events of every kind, some jobs deleted and some expired."""
    streams = streams_of(settings)
    play(streams, seed, length // 2)
    for stream in streams:
        _move_credits(stream)
    play(streams, seed + 1, length - length // 2)
    for stream in streams:
        _come_late(stream)
        _leave_gates_closed(stream)
        spread(stream, seed)
    return streams


def spread(stream: Stream, seed: int) -> None:
    """Stretch the time of a stream and vary what it says of every job; positions and order stay."""
    for at, recorded in enumerate(stream.events):
        header = replace(recorded.header, occurred_at=_later(recorded.header.occurred_at))
        event = _varied(recorded.event, header.occurred_at, random.Random(f"{seed} {stream.partition} {at}"))
        stream.events[at] = Recorded(header, event)
        stream.raws[at] = stream.encoder.encode(stream.events[at])


def moment(micros: int) -> datetime:
    """Return a time of the log as the client of ClickHouse does."""
    return EPOCH + timedelta(microseconds=micros)


def hour(micros: int) -> datetime:
    """Return the hour in which something happened."""
    return moment(micros).replace(minute=0, second=0, microsecond=0)


def kept_jobs(streams: list[Stream]) -> Jobs:
    """Return the events of each job that was not deleted."""
    jobs: Jobs = defaultdict(list)
    for stream in streams:
        for recorded in stream.events:
            if recorded.event.job_id:
                jobs[recorded.event.org_id, recorded.event.job_id].append(recorded)
    return {key: told for key, told in jobs.items() if not any(isinstance(each.event, JobDeleted) for each in told)}


def submitted(told: list[Recorded]) -> JobSubmitted:
    """Return what was asked for with a job."""
    assert isinstance(told[0].event, JobSubmitted)
    return told[0].event


def of_type(told: list[Recorded], *types: type[AnyEvent]) -> Iterator[Recorded]:
    """Yield the events of these types."""
    return (each for each in told if isinstance(each.event, types))


def _later(micros: int) -> int:
    return START + (micros - START) * STRETCH


def _move_credits(stream: Stream) -> None:
    for number in range(3):
        org = stream.orgs[number % len(stream.orgs)]
        stream.record(CreditsGranted(org_id=org, credits=100 + number), 90 + number)
        stream.record(CreditsHeld(org_id=org, hold_id=b"hold", credits=40 + number), 93 + number)
    stream.record(CreditsReleased(org_id=stream.orgs[0], hold_id=b"hold", credits=7), 99)


def _come_late(stream: Stream) -> None:
    """Let ended jobs be acknowledged once more, then delivered again; deleted ones only be acknowledged."""
    for job in [each for each in stream.jobs if each.status == "completed" and "internal" in each.generations]:
        acknowledge(stream, job, "internal")
        if job.gone != "deleted":
            job.generations["internal"] += 1
            job.open_deliveries["internal"] = 1
            stream.of(job, requested(job, "internal"))
            acknowledge(stream, job, "internal")


def _leave_gates_closed(stream: Stream) -> None:
    for number in (1, 2, 4, 5):  # both orgs, two and three destinations
        job = stream.submit(number)
        stream.dispatch(job)
        stream.claim(job)
        stream.extract(job)
        if number > 3:
            acknowledge(stream, job, "internal")


def _varied(event: AnyEvent, now: int, chosen: random.Random) -> AnyEvent:
    match event:
        case JobSubmitted():
            domain = f"shop-{chosen.randrange(3)}.example"
            return replace(event, workflow_id=f"wf-{chosen.randrange(2)}", domain=domain)
        case NodeFinished():
            latency = chosen.randrange(20, 9_000)
            provider = chosen.choice(("", *PROVIDERS))
            return replace(event, provider=provider, latency_ms=latency, try_number=chosen.randrange(1, 4))
        case RetryScheduled() | RetryBroughtForward():
            return replace(event, due_at=now + chosen.randrange(3 * 10**8))
        case DeliveryFailed():
            return replace(event, error_type=chosen.choice(("timeout", "http_500")))
        case JobFailed(error_type="providers_exhausted"):
            why = chosen.choice(("providers_exhausted", "validation_failed", "internal"))
            refund = chosen.randrange(3) if why == "internal" else 0
            return replace(event, error_type=why, refund=refund, rule="empty" if why == "validation_failed" else "")
        case _:
            return event
