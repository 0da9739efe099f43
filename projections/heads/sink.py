"""Follows the log without decoding it and signs, every few seconds, the newest event of each org that has moved.

What it knows it keeps in the sheets themselves. Two of it side by side say the same; the later word counts.
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping, Sequence

from projections.heads.sheet import Sheet, UnusableSheet, read_sheet, write_sheet
from projections.heads.signing import Head, SignedHead, Signer, Verifier
from services.ledger.record import digest_of
from services.runtime.blob import BlobStore
from services.runtime.metrics import count
from services.runtime.raw_log import Checkpoint, RawEntry
from services.runtime.settings import Settings
from services.runtime.time import utc_now

READER = "heads"
EVERY_SECONDS = 10.0  # what a truncation takes within it is missed here, not by `verify`: the read models have it

log = logging.getLogger(__name__)


class HeadsSink:
    """The heads of every partition that this process follows."""

    def __init__(self, settings: Settings) -> None:
        self._ledger = settings.topic_prefix
        self._blobs = BlobStore(settings.blobs)
        self._signer = Signer(settings.signing_key)
        self._sheets: dict[int, Sheet] = {}
        self._moved: dict[int, dict[str, Head]] = {}  # by partition and org: what is not signed yet
        self._checkpoints: dict[int, Checkpoint] = {}
        self._next_at = 0.0

    def lock(self) -> bool:
        """There is nothing to hold: two writers of one truth do no harm."""
        return True

    def checkpoints(self, partitions: range) -> dict[int, Checkpoint]:
        """Return where each sheet ends; one that is missing or not ours is made anew from the first event on."""
        self._sheets = {partition: asyncio.run(self._kept(partition)) for partition in partitions}
        self._checkpoints = {partition: sheet.checkpoint for partition, sheet in self._sheets.items()}
        return dict(self._checkpoints)

    def write(self, entries: Sequence[RawEntry]) -> Mapping[int, Checkpoint]:
        """Take what came; sign and store what has moved since the last time, when it is time."""
        for entry in entries:
            head = Head(
                ledger=self._ledger,
                org_id=entry.org_id,
                partition=entry.partition,
                position=entry.position,
                hash=digest_of(entry.raw).hex(),
            )
            self._moved.setdefault(entry.partition, {})[entry.org_id] = head
            self._checkpoints[entry.partition] = entry.checkpoint
        if self._moved and time.monotonic() >= self._next_at:
            self._next_at = time.monotonic() + EVERY_SECONDS
            asyncio.run(self._publish())
        return {partition: self._checkpoints[partition] for partition in {entry.partition for entry in entries}}

    def close(self) -> None:
        """Sign what is left."""
        if self._moved:
            asyncio.run(self._publish())

    async def _kept(self, partition: int) -> Sheet:
        fresh = Sheet(public_key=self._signer.public_key, checkpoint=Checkpoint(), heads={})
        try:
            sheet = await read_sheet(self._blobs, self._ledger, partition)
        except UnusableSheet as error:
            log.error("heads are read from the log again", extra={"partition": partition, "reason": str(error)})
            return fresh
        if sheet is None:
            return fresh
        verifier = Verifier(self._signer.public_key)
        if foreign := [org_id for org_id, head in sheet.heads.items() if not verifier.genuine(head)]:
            reason = f"{len(foreign)} heads are not signed with this key"
            log.error("heads are read from the log again", extra={"partition": partition, "reason": reason})
            return fresh
        return sheet

    async def _publish(self) -> None:
        for partition in list(self._moved):
            signed = self._signed(self._moved[partition].values())
            sheet = Sheet(
                public_key=self._signer.public_key,
                checkpoint=self._checkpoints[partition],
                heads=self._sheets[partition].heads | signed,
            )
            await write_sheet(self._blobs, self._ledger, partition, sheet)
            self._sheets[partition] = sheet
            del self._moved[partition]
            count("heads_signed", len(signed), partition=str(partition))

    def _signed(self, heads: Iterable[Head]) -> dict[str, SignedHead]:
        now = utc_now()
        return {head.org_id: self._signer.sign(head, now) for head in heads}
