"""The state of a partition as parts, and back: what a restore begins with instead of the first event.

What follows from the jobs alone (queues, counters, owners) is not in it. Parts are small, so that neither side holds
the state twice. Whoever changes what `apply` makes of an event raises FOLD_VERSION; a test knows when.
"""

from collections.abc import Iterator
from itertools import islice
from sys import intern
from typing import assert_never

from msgspec import msgpack

from services.ledger.account import Account
from services.ledger.chains import Chain
from services.ledger.indexes import enroll, turns_of
from services.ledger.job import Job
from services.ledger.job_parts import NOT_ENDED, NOT_RUN, Terms, share, shared_run
from services.ledger.keys import HourOfKeys
from services.ledger.policy import Policy
from services.ledger.redating import dating_of, redated, waits_of
from services.ledger.schedules import Fires
from services.ledger.snapshot_parts import (
    AccountOfOrg,
    Basics,
    ChainsOfOrg,
    Ended,
    EndpointsOfOrg,
    FiresOfOrg,
    Jobs,
    KeysOfHour,
    OrgRow,
    Part,
    Row,
    TurnsRow,
    Waits,
)
from services.ledger.state import Ledger, Org, Worker
from services.ledger.timers import Timer
from services.ledger.turns import Turns

FOLD_VERSION = 6
JOBS_IN_PART = 2_000
ENTRIES_IN_PART = 5_000
CHAINS_IN_PART = 500

_encode = msgpack.Encoder().encode
_decode = msgpack.Decoder(Part).decode


def parts_of(ledger: Ledger) -> Iterator[bytes]:
    """Yield the state of a partition, which must not change meanwhile, in parts."""
    yield _encode(_basics(ledger))
    jobs = iter(ledger.jobs.values())
    while some := list(islice(jobs, JOBS_IN_PART)):
        yield _encode(_jobs(some))
    for org in ledger.orgs.values():
        for number, hour in org.keys.by_hour():
            yield _encode(KeysOfHour(org.org_id, number, list(hour.places), bytes(hour.requests), hour.jobs))
        if len(org.fires):
            yield _encode(FiresOfOrg(org.org_id, dict(org.fires)))
        account = org.account
        holds = list(account.holds.items())
        yield _encode(AccountOfOrg(org.org_id, account.plan, account.metered, account.balance, holds))
        endpoints = org.endpoints
        if endpoints.failing or endpoints.disabled:
            yield _encode(EndpointsOfOrg(org.org_id, [*endpoints.failing.items()], [*endpoints.disabled.items()]))
        chains = [(first, c.links, c.sources, list(c.kept)) for first, c in org.chains.items()]
        for start in range(0, len(chains), CHAINS_IN_PART):
            yield _encode(ChainsOfOrg(org.org_id, chains[start : start + CHAINS_IN_PART]))
    timers = iter(ledger.timers)
    while waits := list(islice(timers, ENTRIES_IN_PART)):
        yield _encode(Waits(waits))
    ended = iter(ledger.ended.items())
    while ends := list(islice(ended, ENTRIES_IN_PART)):
        yield _encode(Ended(ends))


def _basics(ledger: Ledger) -> Basics:
    return Basics(
        ledger.partition,
        ledger.position,
        ledger.cause,
        ledger.occurred_at,
        ledger.heads,
        [_org_row(org) for org in ledger.orgs.values()],
        [(boot, w.worker_id, w.kind, w.slots, w.seen_at) for boot, w in ledger.workers.items()],
        ledger.run_means,
        [_turns_row(kind, turns) for kind, turns in ledger.turns.items()],
        ledger.archived_up_to,
        dating_of(ledger.policy),
    )


def _org_row(org: Org) -> OrgRow:
    return OrgRow(
        org.org_id,
        org.max_in_flight,
        org.seq,
        list(org.holders),
        org.max_pending,
        org.max_queue_seconds,
        org.retention_seconds,
        org.paused,
        sorted(org.paused_workflows),
    )


def _turns_row(kind: str, turns: Turns) -> TurnsRow:
    now, later = [list(orgs) for orgs in turns.now], [list(orgs) for orgs in turns.later]
    return TurnsRow(kind, now, later, sorted(turns.had), turns.last, turns.latest_next)


def _jobs(jobs: list[Job]) -> Jobs:
    places: dict[int, int] = {}
    terms: list[Terms] = []
    rows = []
    for job in jobs:
        place = places.setdefault(id(job.terms), len(terms))
        if place == len(terms):
            terms.append(job.terms)
        rows.append(
            Row(
                job.job_id,
                place,
                job.domain,
                job.private,
                job.submitted_at,
                job.status,
                job.seq,
                job.attempt,
                job.dispatch,
                job.task_out,
                None if job.run is NOT_RUN else job.run,
                None if job.ending is NOT_ENDED else job.ending,
            )
        )
    return Jobs(terms, rows)


class Rebuild:
    """Puts the parts of a snapshot together again, in their order."""

    def __init__(self, partition: int, policy: Policy) -> None:
        self.ledger = Ledger(partition, policy)
        self._dating = self._dated = dating_of(policy)  # of now, and of the waits in the snapshot

    def add(self, part: bytes) -> None:
        """Take in the next part; raises msgspec's DecodeError or KeyError where it is none of this format."""
        decoded = _decode(part)
        match decoded:
            case Basics():
                self._basics(decoded)
            case Jobs():
                self._jobs(decoded)
            case KeysOfHour():
                self._keys(decoded)
            case FiresOfOrg():
                self.ledger.orgs[decoded.org_id].fires = Fires(decoded.newest)
            case AccountOfOrg():
                account = Account(decoded.plan, decoded.metered, decoded.balance, dict(decoded.holds))
                self.ledger.orgs[decoded.org_id].account = account
            case EndpointsOfOrg():
                endpoints = self.ledger.orgs[decoded.org_id].endpoints
                endpoints.failing, endpoints.disabled = dict(decoded.failing), dict(decoded.disabled)
            case ChainsOfOrg():
                self._chains(decoded)
            case Waits():
                self._waits(decoded)
            case Ended():
                for job_id, at in decoded.jobs:
                    self.ledger.ended[self._own(job_id)] = at
            case _:
                assert_never(decoded)

    def _basics(self, part: Basics) -> None:
        ledger = self.ledger
        ledger.position, ledger.cause, ledger.occurred_at = part.position, part.cause, part.occurred_at
        ledger.archived_up_to = part.archived_up_to
        self._dated = part.dating
        ledger.heads = part.heads
        ledger.orgs = {row.org_id: _org(row) for row in part.orgs}
        ledger.workers = {boot: Worker(name, kind, slots, seen) for boot, name, kind, slots, seen in part.workers}
        ledger.run_means = part.run_means
        for row in part.turns:
            turns_of(ledger, row.kind).restore(row.now, row.later, row.had, row.last, latest_next=row.latest_next)

    def _jobs(self, part: Jobs) -> None:
        terms = [share(each) for each in part.terms]
        for row in part.rows:
            mine = terms[row.terms]
            job = Job(
                terms=mine,
                job_id=row.job_id,
                domain=intern(row.domain),
                private=row.private,
                submitted_at=row.submitted_at,
                status=row.status,
                seq=row.seq,
                attempt=row.attempt,
                dispatch=row.dispatch,
                task_out=row.task_out,
                run=NOT_RUN if row.run is None else shared_run(row.run, mine, row.job_id),
                ending=NOT_ENDED if row.ending is None else row.ending,
            )
            self.ledger.jobs[job.job_id] = job
            enroll(self.ledger, None, job)
            for timer in waits_of(job, self.ledger.policy) if self._dated != self._dating else ():
                self.ledger.timers.set(timer)

    def _keys(self, part: KeysOfHour) -> None:
        jobs = [self._own(each) if isinstance(each, str) else each for each in part.jobs]
        places = {digest: place for place, digest in enumerate(part.digests)}
        self.ledger.orgs[part.org_id].keys.put_hour(part.hour, HourOfKeys(places, bytearray(part.requests), jobs))

    def _waits(self, part: Waits) -> None:
        for timer in part.timers:
            own = Timer(timer.due_at, intern(timer.kind), self._own(timer.job_id), intern(timer.detail))  # type: ignore[arg-type]
            self.ledger.timers.set(redated(own, self._dated, self._dating))

    def _chains(self, part: ChainsOfOrg) -> None:
        chains = self.ledger.orgs[part.org_id].chains
        for first, links, sources, kept in part.chains:
            chains[first] = Chain(links, sources, dict.fromkeys(kept))

    def _own(self, job_id: str) -> str:
        """Return the id as the job itself has it, so that there is one text of it."""
        job = self.ledger.jobs.get(job_id)
        return job.job_id if job else job_id


def _org(row: OrgRow) -> Org:
    return Org(
        row.org_id,
        row.max_in_flight,
        row.seq,
        row.max_pending,
        row.max_queue_seconds,
        row.retention_seconds,
        row.paused,
        set(row.paused_workflows),
        holders=dict.fromkeys(row.holders),
    )
