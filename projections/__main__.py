"""The process that keeps the read model in Postgres: `python -m projections`."""

from functools import partial

from projections.postgres.sink import READER, postgres_runner
from projections.process import project
from services.runtime.ledger_log import LedgerLog
from services.runtime.process import run
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.store_watch import watch_postgres

SERVICE = "projections"


async def main(settings: Settings) -> None:
    """Project until cancelled or until something is wrong that waiting does not cure."""
    open_log = partial(LedgerLog, settings, decoder(settings))
    runner_of = partial(postgres_runner, settings.postgres, range(settings.partitions), open_log)
    stores = {"postgres-server": partial(watch_postgres, settings.postgres)}
    await project(settings, SERVICE, READER, runner_of, stores)


if __name__ == "__main__":
    run(main, SERVICE)
