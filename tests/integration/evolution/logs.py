"""What a released version wrote, and what a later one writes, on the topic of events."""

import uuid
from contextlib import closing

import msgspec

from schemas.codec import subject_of
from schemas.events import OrgLimitChanged
from schemas.examples import example
from schemas.recorded import Recorded
from services.decider.outgoing import event_headers
from services.runtime import topics
from services.runtime.registry import Registry
from services.runtime.settings import Settings
from services.runtime.transactions import Outgoing, PartitionTransactions
from tests.event_streams import Stream
from tests.integration.decider.partitions import ORG
from tests.versions import (
    LATER_JOB_SUBMITTED,
    JobPraised,
    Schemas,
    Writer,
    later_version,
    released_schemas,
    todays_schemas,
)
from tests.versions import Vocabulary as LaterVocabulary


def writer_of(settings: Settings, schemas: Schemas) -> Writer:
    """Return a writer whose schemas the registry has, as every release leaves them there."""
    registry = Registry(settings.registry)
    return Writer(schemas, {name: registry.register(subject_of(name), schema) for name, schema in schemas.items()})


def old_stream(settings: Settings) -> Stream:
    """Return what a decider of the first release wrote: a job in every state, and a limit that was changed."""
    writer = writer_of(settings, released_schemas("0.1.0"))
    partition = topics.partition_of_org(ORG, settings.partitions)
    stream = Stream(partition, (ORG,), writer).open()  # type: ignore[arg-type]  # all it does is to encode
    stream.record(OrgLimitChanged(org_id=ORG, max_in_flight=50), 2)
    stream.submit()
    stream.dispatch(stream.submit())
    for ends in ("running", "released", "retry", "failed", "cancelled", "extracted", "completed"):
        job = stream.submit(0)
        stream.dispatch(job)
        stream.claim(job)
        stream.visit(job, 2)
        match ends:
            case "released":
                stream.advance(job, 8)
            case "retry":
                stream.advance(job, 7)
            case "failed" | "cancelled":
                stream.end_early(job, ends == "cancelled")
            case "extracted" | "completed":
                stream.extract(job)
                if ends == "completed":
                    stream.ack(job, "internal")
            case _:
                pass
    return stream


def write(settings: Settings, partition: int, events: list[Recorded], raws: list[bytes]) -> None:
    """Write events as a decider does."""
    with closing(PartitionTransactions(settings, partition)) as transactions:
        transactions.open()
        transactions.write(
            [
                Outgoing(topics.events(settings), partition, each.event.org_id, raw, event_headers(each, raw))
                for each, raw in zip(events, raws, strict=True)
            ]
        )


def later_events(settings: Settings, partition: int, last: int) -> tuple[list[Recorded], list[bytes]]:
    """Return two events of a later version, behind the last one."""
    with later_version():
        schemas = todays_schemas()
    writer = writer_of(settings, {name: schemas[name] for name in ("JobSubmitted", "JobPraised")})
    said = [
        LATER_JOB_SUBMITTED(
            org_id=ORG, job_id="later-job", domain="d.example", vocabulary=LaterVocabulary.PAUSED, colour="red"
        ),
        JobPraised(org_id=ORG, job_id="later-job", stars=5),
    ]
    events: list[Recorded] = []
    for number, event in enumerate(said, 1):
        header = msgspec.structs.replace(
            example("JobSubmitted").header,
            event_id=uuid.uuid4().bytes,
            event_type=type(event).__name__,
            partition=partition,
            position=last + number,
            seq=number,
        )
        events.append(Recorded(header, event))
    return events, [writer.encode(each) for each in events]
