"""One digest over everything that decisions depend on: two ledgers that have the same decide the same."""

import hashlib
from collections.abc import Iterator

import msgspec

from services.ledger.stale import matters
from services.ledger.state import Ledger

DIGEST_BYTES = 32


def digest_of_state(ledger: Ledger) -> bytes:
    """Return the digest of a partition's state; waits that no longer matter are not part of it."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    encode = msgspec.msgpack.Encoder().encode
    for piece in _pieces(ledger):
        digest.update(encode(piece))
    return digest.digest()


def _pieces(ledger: Ledger) -> Iterator[object]:
    yield ledger.partition, ledger.position, ledger.cause, ledger.occurred_at, ledger.archived_up_to
    yield sorted(ledger.heads.items())
    for org_id, org in sorted(ledger.orgs.items()):
        yield org_id, org.max_in_flight, org.seq, list(org.holders), org.max_pending, org.max_queue_seconds
        yield org.retention_seconds
        yield org.paused, sorted(org.paused_workflows), org.pending, org.live
        yield sorted((first, c.links, sorted(c.sources.items()), sorted(c.kept)) for first, c in org.chains.items())
        account = org.account
        yield account.plan, account.metered, account.balance, sorted(account.holds.items())
        yield list(org.endpoints.failing.items()), list(org.endpoints.disabled.items())
        for kind, queue in sorted(org.queues.items()):
            if len(queue):
                yield kind, len(queue), queue.open, list(queue.in_order(ledger.jobs))
                yield list(queue.in_order(ledger.jobs, paused=True))
        for number, hour in org.keys.by_hour():
            yield number, list(hour.places), bytes(hour.requests), hour.jobs
        if len(org.fires):
            yield list(org.fires)
    yield from ledger.jobs.values()
    for boot_id, worker in sorted(ledger.workers.items()):
        yield boot_id, worker.worker_id, worker.kind, worker.slots, worker.seen_at, sorted(worker.jobs)
        yield sorted(worker.parting)
    yield list(ledger.ended.items())
    yield sorted((kind, out) for kind, out in ledger.unclaimed.items() if out)
    yield sorted((kind, runs) for kind, runs in ledger.running.items() if runs)
    yield sorted(ledger.run_means.items())
    for kind, turns in ledger.turns.items():
        # Which of two orgs came first may hang on when a due retry was looked at, which is not in the log.
        yield kind, [sorted(orgs) for orgs in (*turns.now, *turns.later)], sorted(turns.had)
        yield turns.last, turns.latest_next
    yield from sorted({timer for timer in ledger.timers if matters(ledger, timer)})
