"""Seals what writers say of failures: a message of a store or an endpoint may quote what was to be written.

Where the key of a job is gone, or is not to be had, its message is left out; the type of the error stays.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from services.ledger.reports import DeliveryResult
from services.runtime.errors import KeysAway
from services.runtime.shredding.codec import JobKey, KeysOfJobs, sealed

log = logging.getLogger(__name__)


class KeysOfOrgs(KeysOfJobs, Protocol):
    """Where it is known, too, which orgs have keys; a services.runtime.shredding.store.JobKeys is one."""

    async def with_erasure(self, orgs: Sequence[str]) -> set[str]:
        """Return those of these orgs that have, or had, erasure; raises KeysAway."""


class Sealing:
    """Seals the answers of one writer."""

    def __init__(self, keys: KeysOfOrgs) -> None:
        self._keys = keys

    async def sealed(self, results: Sequence[DeliveryResult]) -> Sequence[DeliveryResult]:
        """Return answers as the ledger may hear them; without a message there is nothing to look up."""
        telling = {_of(each) for each in results if each.private}
        if not telling:
            return results
        try:
            orgs = await self._keys.with_erasure(sorted({org_id for org_id, _ in telling}))
            keys = await self._keys.of([job for job in telling if job[0] in orgs])
        except KeysAway as error:
            log.warning("no keys to be had, messages are left out", extra={"reason": str(error)})
            orgs, keys = {org_id for org_id, _ in telling}, {}
        return [_sealed(each, keys) if each.org_id in orgs else each for each in results]


def _of(result: DeliveryResult) -> JobKey:
    return result.org_id, result.job_id


def _sealed(result: DeliveryResult, keys: Mapping[JobKey, bytes]) -> DeliveryResult:
    key = keys.get(_of(result))
    return replace(result, private=sealed(result.private, key, _of(result)) if key else b"")
