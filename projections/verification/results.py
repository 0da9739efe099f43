"""Checks what destinations hold: their rows belong to their writers, but every acknowledged delivery has its row there,
with what was extracted, and every row its delivery.

A destination is looked at after the checkpoints were read: a row may be ahead of its checkpoint, never of the log, for
what asked for it was committed before it was written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID, uuid5

from projections.postgres.rows import JobKey
from projections.verification.bodies import BLOBS
from projections.verification.compare import shown
from projections.verification.documents import Document, Documents
from projections.verification.expected import Columns, is_gone
from projections.verification.faults import Fault
from projections.verification.log import OpenRecords, PartitionLog, every_event
from schemas.codec import Decoder
from schemas.events import DeliveryAcked, DeliveryRequested, JobDeleted, JobExpired, JobExtracted, JobSubmitted
from schemas.recorded import Recorded
from schemas.storable import storable_text

ROW_IDS = UUID("6f1c4f0e-2b0a-5d53-9a4e-0a6a9f7c1d3e")  # a job's row has the same id wherever it is written
OF_EXTRACTION = ("quality_completeness", "quality_validation", "quality_composite", "latency_ms")
JOBS_AT_ONCE = 500
Asked = tuple[str, str, str, int]  # org, job, destination, generation


class Store(Protocol):
    """Where the rows of one kind of destination are."""

    place: str  # its table, in faults
    kind: str

    def of(self, jobs: Sequence[JobKey]) -> Iterable[Columns]:
        """Return the rows of these jobs."""

    def every(self) -> Iterable[Asked]:
        """Return what each row says that it is."""


@dataclass(slots=True)
class Place:
    """What the events of a job say about one destination."""

    domain: str
    asked: dict[int, JobExtracted] = field(default_factory=dict)  # by generation
    acked: int = 0  # the newest generation that was acknowledged; 0: none

    def columns(self, key: JobKey, generation: int, document: Document | None) -> Columns:
        """Return what the row of a generation has to say; without the document, if there is none."""
        extracted = self.asked[generation]
        row: Columns = {name: getattr(extracted, name) for name in OF_EXTRACTION}
        row |= {"id": uuid5(ROW_IDS, "/".join(key)), "raw_blob_key": extracted.result_ref}
        row |= {"domain": storable_text(self.domain), "schema_id": storable_text(extracted.schema_id)}
        row["data_type"] = storable_text(extracted.data_type)
        if document:
            row |= {"normalized": document.normalized, "replaced_characters": document.replaced_characters}
        return row


class Results:
    """Checks one store, one partition of the log after the other; `unasked` comes last."""

    def __init__(self, store: Store, documents: Documents) -> None:
        self.place = store.place
        self.rows = 0  # compared so far
        self._store = store
        self._documents = documents
        self._explained: set[Asked] = set()
        self._missing: dict[JobKey, list[Fault]] = {}

    def check(self, log: PartitionLog) -> Iterator[Fault]:
        """Yield acknowledged deliveries whose row is older than the ACK, or not what was extracted.

        Those whose row or extraction is missing come with `unasked`: it may be gone because its job was deleted since.
        """
        there = {key: events for key, events in log.jobs.items() if not is_gone(events)}
        jobs = {key: places_of(events, self._store.kind) for key, events in there.items()}
        delivered = {key: places for key, places in jobs.items() if places}
        keys = list(delivered)
        for start in range(0, len(keys), JOBS_AT_ONCE):
            yield from self._compare({key: delivered[key] for key in keys[start : start + JOBS_AT_ONCE]})
        erased = [key for key, events in log.jobs.items() if is_erased(events, self._store.kind)]
        for start in range(0, len(erased), JOBS_AT_ONCE):
            for row in self._store.of(erased[start : start + JOBS_AT_ONCE]):
                name = _named(row["job_id"], row["destination_id"])
                yield Fault(
                    self._store.place, row["org_id"], name, "row", "none: the job was deleted, or expired", "one"
                )

    def unasked(self, open_records: OpenRecords, decoder: Decoder, partitions: range) -> Iterator[Fault]:
        """Yield rows that no delivery of the whole log asked for, and what is missing of jobs not deleted."""
        left = set(self._store.every()) - self._explained
        for recorded in every_event(open_records, decoder, partitions) if left or self._missing else ():
            match recorded.event:
                case DeliveryRequested() as event:
                    left.discard((event.org_id, event.job_id, event.destination_id, event.generation))
                case JobDeleted() | JobExpired() as event:
                    self._missing.pop((event.org_id, event.job_id), None)
                case _:
                    pass
        for faults in self._missing.values():
            yield from faults
        for org_id, job_id, destination_id, generation in sorted(left):
            said = f"generation {generation}, which no delivery asked for"
            yield Fault(self._store.place, org_id, _named(job_id, destination_id), "row", "none", said)

    def _compare(self, jobs: Mapping[JobKey, dict[str, Place]]) -> Iterator[Fault]:
        rows = {(row["org_id"], row["job_id"], row["destination_id"]): row for row in self._store.of(list(jobs))}
        self.rows += len(rows)
        asked = [
            (key, name, place, rows.get((*key, name))) for key, places in jobs.items() for name, place in places.items()
        ]
        documents = self._documents(
            {
                place.asked[row["generation"]].extraction_ref
                for _, _, place, row in asked
                if row and row["generation"] in place.asked
            }
        )
        for key, name, place, row in asked:
            if row is None:
                if place.acked:
                    missing = Fault(self._store.place, key[0], _named(key[1], name), "row", "one", "none")
                    self._missing.setdefault(key, []).append(missing)
                continue
            asked_for = place.asked.get(row["generation"])
            if asked_for and asked_for.extraction_ref not in documents:
                lost = Fault(BLOBS, key[0], _named(key[1], name), "extraction", "one", "none that can be read")
                self._missing.setdefault(key, []).append(lost)
            for column, expected, found in self._differences(key, place, row, documents):
                yield Fault(self._store.place, key[0], _named(key[1], name), column, expected, found)

    def _differences(
        self, key: JobKey, place: Place, row: Columns, documents: Mapping[str, Document]
    ) -> Iterator[tuple[str, str, str]]:
        """Yield column, what it should be and what it is."""
        generation = row["generation"]
        if generation < place.acked:
            yield "generation", f"at least {place.acked}", str(generation)
        if generation not in place.asked:
            return  # ahead of the checkpoint, or never asked for: `unasked` says which
        self._explained.add((*key, row["destination_id"], generation))
        document = documents.get(place.asked[generation].extraction_ref)
        for name, expected in place.columns(key, generation, document).items():
            if row[name] != expected:
                yield name, shown(expected), shown(row[name])


def is_erased(events: Sequence[Recorded], kind: str) -> bool:
    """Whether the writer of a kind of destination said that nothing of such a job is left there."""
    asked: set[tuple[str, int]] = set()
    for each in events if is_gone(events) else ():
        match each.event:
            case DeliveryRequested(erase=True) as event if event.kind == kind:
                asked.add((event.destination_id, event.generation))
            case DeliveryAcked(destination_id=name, generation=generation) if (name, generation) in asked:
                return True
    return False


def places_of(events: Sequence[Recorded], kind: str) -> dict[str, Place]:
    """Return what a job's events say about its destinations of a kind, by destination."""
    first = events[0].event
    domain = first.domain if isinstance(first, JobSubmitted) else ""
    places: dict[str, Place] = {}
    extracted = JobExtracted()
    for each in events:
        match each.event:
            case JobExtracted() as extracted:
                pass
            case DeliveryRequested() as event if event.kind == kind:
                places.setdefault(event.destination_id, Place(domain)).asked[event.generation] = extracted
            case DeliveryAcked(destination_id=name, generation=generation) if name in places:
                places[name].acked = max(places[name].acked, generation)
    return places


def _named(job_id: str, destination_id: str) -> str:
    return f"{job_id} destination_id={destination_id}"
