"""Checks the rules of items: each has one outcome, no chain a gap or repeat, no job two resumes at a time.

Of a spider: no gap or repeat either, and all that is recorded comes of one run.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from projections.postgres.rows import JobKey
from projections.verification.expected_items import chunks_of, of_spider
from projections.verification.faults import Fault
from projections.verification.kept import last
from projections.verification.log import PartitionLog
from schemas.events import (
    ItemsPlanned,
    JobCancelled,
    JobClaimed,
    JobCompleted,
    JobContinued,
    JobExtracted,
    JobFailed,
)
from schemas.item_events import Adopted, ItemEvent
from schemas.recorded import Recorded

ENDS = (JobCompleted, JobFailed, JobCancelled)


def check_items(log: PartitionLog) -> Iterator[Fault]:
    """Yield what breaks a rule."""
    resumes: defaultdict[JobKey, list[tuple[int, int]]] = defaultdict(list)  # of a job: from where to where each lived
    for key, events in log.jobs.items():
        went_on = last(events, JobContinued)
        for name, expected, found in _of_spider(events) if of_spider(events) else _of_job(events, went_on):
            yield Fault("log", *key, name, str(expected), str(found))
        if went_on is not None:
            source = (key[0], went_on.source_job_id)
            begun = next(each.header.position for each in events if each.event is went_on)
            end = next((each.header.position for each in events if isinstance(each.event, ENDS)), 2**63)
            resumes[source].append((begun, end))
            for name, expected, found in _of_source(log.jobs.get(source, []), went_on, begun):
                yield Fault("log", *key, name, str(expected), str(found))
    for (org_id, job_id), lives in resumes.items():
        lives.sort()
        for (_, end), (begun, _) in pairwise(lives):
            if begun < end:
                yield Fault("log", org_id, job_id, "resumes", "one pending or running at a time", f"at {begun} another")


def _of_job(events: Sequence[Recorded], went_on: JobContinued | None) -> Iterator[tuple[str, object, object]]:
    """Yield name, expectation and finding for what is wrong within a job."""
    planned = last(events, ItemsPlanned)
    total = planned.planned if planned else went_on.planned if went_on else 0
    began = went_on or JobContinued()
    item, row = began.next_item, began.rows
    for number, chunk in enumerate(chunks_of(events)):
        if (chunk.chunk, chunk.first_item, chunk.first_row) != (number, item, row):
            found = f"chunk {chunk.chunk} from item {chunk.first_item}, row {chunk.first_row}"
            yield "items", f"chunk {number} from item {item}, row {row}", found
        if not item < chunk.next_item <= total:
            yield "items", f"some of {total} planned ones behind {item}", chunk.next_item
        item, row = chunk.next_item, chunk.first_row + chunk.rows
    if last(events, JobExtracted) is not None and (planned or went_on) and item != total:
        yield "outcomes", total, item


def _of_spider(events: Sequence[Recorded]) -> Iterator[tuple[str, object, object]]:
    """Yield the same of a spider, which plans nothing and runs once."""
    row = 0
    for number, chunk in enumerate(chunks_of(events)):
        wanted = (number, row, row, row + chunk.rows, 0)
        found = (chunk.chunk, chunk.first_item, chunk.first_row, chunk.next_item, chunk.errors)
        if found != wanted or not chunk.rows:
            yield "items", f"chunk {number} of some items from {row} on, none of which failed", found
        row = chunk.next_item
    told = {each.event.attempt for each in events if isinstance(each.event, ItemEvent)}
    last_claim = last(events, JobClaimed)
    if told and told != {last_claim.attempt if last_claim else 0}:
        yield "run", f"one, of the last claim: {last_claim.attempt if last_claim else 0}", sorted(told)


def _of_source(source: Sequence[Recorded], went_on: JobContinued, begun: int) -> Iterator[tuple[str, object, object]]:
    """Yield what a job says otherwise of the one that it goes on from than that one did."""
    before = [each for each in source if each.header.position < begun]
    chunks, earlier = chunks_of(before), last(before, JobContinued) or JobContinued()
    newest = chunks[-1] if chunks else None
    own = [Adopted(job_id=went_on.source_job_id, chunks=len(chunks), next_item=newest.resume_item)] if newest else []
    wanted = {
        "adopts": (*earlier.adopts, *own),
        "next_item": newest.resume_item if newest else earlier.next_item,
        "rows": earlier.rows + sum(chunk.rows for chunk in chunks),
        "errors": newest.errors_before if newest else earlier.errors,
    }
    if not any(isinstance(each.event, ENDS) for each in before):
        yield "source_job_id", "of a job that had ended", went_on.source_job_id
    for name, expected in wanted.items():
        if getattr(went_on, name) != expected:
            yield name, expected, getattr(went_on, name)
