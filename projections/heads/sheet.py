"""The signed heads of one partition as one blob, with the place in the log up to which they go."""

import msgspec
from msgspec import Struct

from projections.heads.signing import SignedHead
from services.runtime.blob import BlobStore
from services.runtime.errors import BlobMissing
from services.runtime.raw_log import Checkpoint

ROOT = "heads"


class Sheet(Struct, frozen=True, kw_only=True):
    """The heads of all orgs of a partition, by org."""

    public_key: str
    checkpoint: Checkpoint
    heads: dict[str, SignedHead]


class UnusableSheet(Exception):
    """What the blob store holds is no sheet."""


def sheet_key(ledger: str, partition: int) -> str:
    """Return the blob key of the sheet of a partition."""
    return f"{ROOT}/{ledger}/{partition}.json"


async def read_sheet(blobs: BlobStore, ledger: str, partition: int) -> Sheet | None:
    """Return the sheet of a partition, None where none was written yet; raise UnusableSheet where it is none."""
    try:
        data = await blobs.get(sheet_key(ledger, partition))
    except BlobMissing:
        return None
    try:
        return msgspec.json.decode(data, type=Sheet)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnusableSheet(f"{sheet_key(ledger, partition)}: {error}") from error


async def write_sheet(blobs: BlobStore, ledger: str, partition: int, sheet: Sheet) -> None:
    """Replace the sheet of a partition in one step."""
    await blobs.put(sheet_key(ledger, partition), msgspec.json.format(msgspec.json.encode(sheet), indent=1))
