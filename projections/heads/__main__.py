"""The process that signs the heads of the orgs' chains: `python -m projections.heads`."""

from functools import partial

from projections.heads.sink import EVERY_SECONDS, READER, HeadsSink
from projections.process import project
from projections.runner import Runner
from schemas.codec import Decoder
from services.runtime.errors import BlobFault, RegistryFault, SettingsError
from services.runtime.health import Progress
from services.runtime.process import run
from services.runtime.raw_log import RawEntry, RawLog
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.standstill import STANDSTILL_SECONDS
from services.runtime.strangers import by_checksum, noting

SERVICE = "projections-heads"
BATCH_EVENTS = 10_000
WAITS_FOR: dict[type[Exception], str] = {BlobFault: "the blob store", RegistryFault: "the schema registry"}


def runner_of(settings: Settings, decode: Decoder, progress: Progress) -> Runner[RawEntry]:
    """Return what follows the log and signs."""
    return Runner(
        READER,
        partial(HeadsSink, settings),
        partial(RawLog, settings, by_checksum(decode.claim), noting(READER), following=True),
        range(settings.partitions),
        progress,
        WAITS_FOR,
        BATCH_EVENTS,
    )


async def main(settings: Settings) -> None:
    """Sign until cancelled or until something is wrong that waiting does not cure."""
    if not settings.signing_key:
        raise SettingsError("JOBLEDGER_SIGNING_KEY not set: give 32 bytes in base64, or do not start this process")
    decode = decoder(settings)
    standstill_seconds = EVERY_SECONDS + STANDSTILL_SECONDS
    await project(settings, SERVICE, READER, partial(runner_of, settings, decode), {}, decode, standstill_seconds)


if __name__ == "__main__":
    run(main, SERVICE)
