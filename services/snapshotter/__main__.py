"""The process that writes snapshots: `python -m services.snapshotter`."""

from functools import partial

from projections.process import project
from projections.runner import Runner
from schemas.codec import Decoder
from services.runtime.errors import BlobFault, RegistryFault
from services.runtime.health import Progress
from services.runtime.ledger_log import Entry, LedgerLog
from services.runtime.process import run
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.standstill import STANDSTILL_SECONDS
from services.runtime.strangers import noting
from services.snapshotter.sink import READER, SnapshotSink

SERVICE = "snapshotter"
WRITING_SECONDS = 60.0  # that the snapshot of a large partition may take, while no event is folded
WAITS_FOR: dict[type[Exception], str] = {BlobFault: "the blob store", RegistryFault: "the schema registry"}


def runner_of(settings: Settings, decode: Decoder, progress: Progress) -> Runner[Entry]:
    """Return what follows the log and writes snapshots."""
    return Runner(
        READER,
        partial(SnapshotSink, settings),
        partial(LedgerLog, settings, decode, noted=noting(READER), following=True),
        settings.partitions_owned(),
        progress,
        WAITS_FOR,
    )


async def main(settings: Settings) -> None:
    """Follow the log until cancelled or until something is wrong that waiting does not cure."""
    decode = decoder(settings)
    standstill_seconds = STANDSTILL_SECONDS + WRITING_SECONDS
    await project(settings, SERVICE, READER, partial(runner_of, settings, decode), {}, decode, standstill_seconds)


if __name__ == "__main__":
    run(main, SERVICE)
