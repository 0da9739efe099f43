"""Checks the hash chain of every org against the log itself and against its signed heads."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from msgspec import Struct

from projections.heads.sheet import UnusableSheet, read_sheet
from projections.heads.signing import SignedHead, Verifier
from projections.verification.chain import PLACE, check_chain
from projections.verification.faults import Fault
from projections.verification.log import following
from services.runtime.blob import BlobStore
from services.runtime.reader import LogReader
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.topics import events


class ChainReport(Struct, frozen=True):
    """How many signed heads were compared, and what was wrong."""

    heads: int
    faults: list[Fault]
    strangers: int = 0  # records that are no event, damaged ones too

    @property
    def ok(self) -> bool:
        """Whether nothing was done to the log."""
        return not self.faults


def verify_chain(settings: Settings, public_key: str, kept: Sequence[SignedHead] = ()) -> ChainReport:
    """Check every partition; `public_key` is that of the signer, `kept` are heads that somebody has kept.

    The sheets are read first: the log cannot end before what was signed of it.
    """
    faults: list[Fault] = []
    signed = [*_signed(settings, faults), *kept]
    heads = _newest(_genuine(signed, Verifier(public_key), settings.topic_prefix, faults))
    decode, strangers = decoder(settings), 0
    for partition in range(settings.partitions):
        of_partition = {org_id: head for (place, org_id), head in heads.items() if place == partition}
        with closing(LogReader(settings, events(settings), {partition: 0})) as reader:
            found = check_chain(following(reader), decode, partition, of_partition)
        faults += found.faults
        strangers += found.strangers
    return ChainReport(len(heads), faults, strangers)


def _signed(settings: Settings, faults: list[Fault]) -> list[SignedHead]:
    """Return the heads of every sheet, noting those that cannot be read."""
    blobs = BlobStore(settings.blobs)
    heads: list[SignedHead] = []
    for partition in range(settings.partitions):
        try:
            sheet = asyncio.run(read_sheet(blobs, settings.topic_prefix, partition))
        except UnusableSheet as error:
            faults.append(Fault(PLACE, "", f"partition {partition}", "sheet of signed heads", "readable", str(error)))
        else:
            heads += sheet.heads.values() if sheet else ()
    return heads


def _genuine(heads: Iterable[SignedHead], verifier: Verifier, ledger: str, faults: list[Fault]) -> Iterator[SignedHead]:
    for head in heads:
        if head.ledger == ledger and verifier.genuine(head):
            yield head
        else:
            place = f"partition {head.partition} position {head.position}"
            faults.append(Fault(PLACE, head.org_id, place, "signature of its head", "genuine", "not by this key"))


def _newest(heads: Iterable[SignedHead]) -> dict[tuple[int, str], SignedHead]:
    """Return the newest head of each org in each partition."""
    newest: dict[tuple[int, str], SignedHead] = {}
    for head in heads:
        key = (head.partition, head.org_id)
        if key not in newest or newest[key].position < head.position:
            newest[key] = head
    return newest
