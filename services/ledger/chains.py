"""Chains of jobs that go on from one another: who goes on from whom, and whose items are still wanted.

A chain begins with the first job that another goes on from, and ends with the last whose results are kept: until then
the chunks that any of its jobs refers to stay. Jobs that nobody goes on from have no entry.
"""

from dataclasses import dataclass, field

from schemas.events import JobContinued
from services.ledger.items import chain_of
from services.ledger.job import Job


@dataclass(slots=True)
class Chain:
    """Jobs that go on from one another."""

    links: int = 1  # the highest attempt so far
    sources: dict[str, str] = field(default_factory=dict)  # job -> the one that it goes on from
    kept: dict[str, None] = field(default_factory=dict)  # its jobs whose results are neither deleted nor expired


Chains = dict[str, Chain]  # by the first job


def fold_continued(chains: Chains, event: JobContinued) -> None:
    """A job goes on from another one, whose results are kept."""
    chain = chains.setdefault(event.chain_id, Chain())
    chain.links = event.link
    chain.sources[event.job_id] = event.source_job_id
    chain.kept[event.source_job_id] = None
    chain.kept[event.job_id] = None


def fold_gone(chains: Chains, job: Job) -> None:
    """The results of a job were deleted, or have expired."""
    chain_id = chain_of(job.items, job.job_id)
    chain = chains.get(chain_id)
    if chain is None:
        return
    chain.kept.pop(job.job_id, None)
    if not chain.kept:
        del chains[chain_id]


def next_link(chains: Chains, job: Job) -> int:
    """Return which attempt of its chain a job would be that goes on from this one."""
    chain = chains.get(chain_of(job.items, job.job_id))
    return (chain.links if chain else 1) + 1


def going_on_from(chains: Chains, job: Job) -> tuple[str, ...]:
    """Return the jobs that were submitted to go on from a job."""
    chain = chains.get(chain_of(job.items, job.job_id))
    return tuple(each for each, source in chain.sources.items() if source == job.job_id) if chain else ()
