"""The process that keeps the read model in Postgres: `python -m projections`.

It also dead-letters what somebody else wrote to the log: it always runs, and only one of it reads.
"""

import asyncio
from collections.abc import Mapping
from functools import partial

from projections.ahead import AheadLog
from projections.postgres.parking import ParkingLog, Strangers
from projections.postgres.sink import READER, postgres_runner
from projections.process import project
from services.runtime.dead_letter import parking_from_threads
from services.runtime.dead_letter_topic import dead_letters_of
from services.runtime.ledger_log import Checkpoint, Entry
from services.runtime.process import run
from services.runtime.producer import Producer
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from services.runtime.store_watch import watch_postgres

SERVICE = "projections"


async def main(settings: Settings) -> None:
    """Project until cancelled or until something is wrong that waiting does not cure."""
    decode = decoder(settings)
    producer = Producer(settings, SERVICE)
    producer.start()
    try:
        letters = dead_letters_of(settings, producer)
        strangers = Strangers(parking_from_threads(letters, asyncio.get_running_loop()))

        def open_log(starts: Mapping[int, Checkpoint]) -> AheadLog[Entry]:
            return AheadLog(ParkingLog(settings, decode, strangers, starts))

        vault = Vault(settings.credentials_key)
        runner_of = partial(postgres_runner, settings.postgres, range(settings.partitions), open_log, vault)
        stores = {"postgres-server": partial(watch_postgres, settings.postgres)}
        await project(settings, SERVICE, READER, runner_of, stores, decode)
    finally:
        await asyncio.to_thread(producer.close)


if __name__ == "__main__":
    run(main, SERVICE)
