"""The process that keeps the read model in ClickHouse: `python -m projections.clickhouse`."""

from collections.abc import Mapping
from functools import partial

from clickhouse_connect.driver.exceptions import ClickHouseError

from projections.ahead import AheadLog
from projections.clickhouse.books import BooksMoved
from projections.clickhouse.gathering import MOST_EVENTS, GatheringLog
from projections.clickhouse.insertion import Away
from projections.clickhouse.sink import READER, ClickHouseSink, PlanTooOld
from projections.process import project
from projections.runner import Runner
from schemas.codec import Decoder
from services.runtime.errors import RegistryFault, SettingsError
from services.runtime.health import Progress
from services.runtime.postgres_faults import PASSING
from services.runtime.process import run
from services.runtime.raw_log import Checkpoint, RawEntry, RawLog
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.store_watch import watch_clickhouse, watch_postgres
from services.runtime.strangers import by_checksum, noting

SERVICE = "projections-clickhouse"
WAITS_FOR: dict[type[Exception], str] = {
    **dict.fromkeys(PASSING, "Postgres"),
    BooksMoved: "Postgres",
    PlanTooOld: "ClickHouse",
    Away: "ClickHouse",
    ClickHouseError: "ClickHouse",
    RegistryFault: "the schema registry",
}


def runner_of(settings: Settings, decode: Decoder, progress: Progress) -> Runner[RawEntry]:
    """Return what follows the log into ClickHouse."""

    def open_log(starts: Mapping[int, Checkpoint]) -> AheadLog[RawEntry]:
        judge = by_checksum(decode.claim)
        return AheadLog(GatheringLog(RawLog(settings, judge, noting(READER), starts, following=True)))

    return Runner(
        READER,
        partial(ClickHouseSink, settings),
        open_log,
        range(settings.partitions),
        progress,
        WAITS_FOR,
        MOST_EVENTS,
    )


async def main(settings: Settings) -> None:
    """Project until cancelled or until something is wrong that waiting does not cure."""
    if not settings.clickhouse:
        raise SettingsError("JOBLEDGER_CLICKHOUSE not set: give the URL of a database, or do not start this process")
    stores = {
        "postgres-server": partial(watch_postgres, settings.postgres),
        "clickhouse-server": partial(watch_clickhouse, settings.clickhouse),
    }
    decode = decoder(settings)
    await project(settings, SERVICE, READER, partial(runner_of, settings, decode), stores, decode)


if __name__ == "__main__":
    run(main, SERVICE)
