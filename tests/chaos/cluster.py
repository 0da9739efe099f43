"""What runs: three brokers, the stores, and every service of ours, each started again when it ends."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from signal import SIGKILL

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from services.localstack.broker import Broker
from services.localstack.broker_kafka import ApacheKafka, kafka_cluster
from services.localstack.clickhouse.program import has_engine
from services.localstack.errors import BrokerUnavailable, StartFailed
from services.localstack.identity import Identity
from services.localstack.places import StackDir
from services.localstack.services import SERVICES, Service
from services.localstack.stack import Stack
from services.localstack.supervisor import prepare_ledger
from services.runtime.kafka import client_config
from services.runtime.settings import Settings, settings_from

BROKERS = 3
TEND_SECONDS = 0.1
ASK_SECONDS = 5.0
TWICE = ("decider", "workers", "writers")
# Shorter than in production, so that leases run out and what got lost is sent again many times within minutes.
SETTINGS = {
    "JOBLEDGER_REPLICATION": str(BROKERS),
    "JOBLEDGER_LEASE_SECONDS": "12",
    "JOBLEDGER_HEARTBEAT_SECONDS": "3",
    "JOBLEDGER_DISPATCH_RESEND_SECONDS": "10",
    "JOBLEDGER_DELIVERY_RESEND_SECONDS": "10",
    # The second try of a webhook that fails comes after 5 s, the third after 5 min: longer than anybody here waits.
    "JOBLEDGER_WEBHOOK_RETRY_SCHEDULE": "0,1,5,10,20,30,60,60,60",
}
PARTITIONS = "4"


class Cluster(Stack):
    """A local stack whose broker is a cluster of three, and of whose services some run twice."""

    def __init__(self, directory: StackDir, environ: Mapping[str, str], tell: Callable[[str], None]) -> None:
        foreign = {name: text for name, text in environ.items() if not name.startswith("JOBLEDGER_")}
        own = {"JOBLEDGER_PARTITIONS": PARTITIONS, "JOBLEDGER_BROKER": "apache-kafka"}
        super().__init__(directory, {**foreign, **own}, tell)

    @property
    def settings(self) -> Settings:
        """Settings of whoever looks at it from outside."""
        return settings_from(self.environ)

    def launch(self) -> None:
        """Start everything and wait until it is ready."""
        if not has_engine():
            raise StartFailed("chaos kills ClickHouse too: pip install 'jobledger[local]'")
        self.start()
        self.environ |= SETTINGS
        prepare_ledger(self.environ)
        self.start_services(list(every_service()))

    def running(self) -> dict[str, Identity]:
        """Return the processes that run now, by name."""
        return {each.name: each.identity for each in self.processes() if each.identity}

    def _start_broker(self, broker: Broker) -> str:
        if not isinstance(broker, ApacheKafka):
            raise BrokerUnavailable(f"chaos needs Apache Kafka of its own; the broker is {broker}")
        programs = kafka_cluster(broker, self.directory, self._given, BROKERS)
        for program in programs:
            # At the end nobody needs their goodbyes: the last one would find no quorum to tell it to.
            self._run(replace(program, stop_signal=SIGKILL))
        return ",".join(program.endpoint for program in programs)


def every_service() -> Iterator[Service]:
    """Yield what the local stack runs, some of it twice: deciders share the partitions, others a consumer group."""
    for service in SERVICES:
        if service.name not in TWICE:
            yield service
            continue
        for number in range(2):
            own = (("JOBLEDGER_INSTANCE", str(number)), ("JOBLEDGER_INSTANCES", "2"))
            named = (("JOBLEDGER_WORKER_ID", f"{service.name}-{number}"),)
            settings = service.settings + (own if service.name == "decider" else named)
            yield replace(service, name=f"{service.name}-{number}", settings=settings)


@asynccontextmanager
async def tended(cluster: Cluster) -> AsyncIterator[None]:
    """Start again what ends, while the block runs."""

    async def tend() -> None:
        while True:
            await asyncio.to_thread(cluster.tend)
            await asyncio.sleep(TEND_SECONDS)

    tending = asyncio.create_task(tend())
    try:
        yield
    finally:
        tending.cancel()
        await asyncio.gather(tending, return_exceptions=True)


def in_sync(cluster: Cluster) -> bool:
    """Whether every partition of every topic is on all brokers: then one of them may go."""
    client = AdminClient(client_config(cluster.settings, "chaos"))
    try:
        topics = client.list_topics(timeout=ASK_SECONDS).topics
    except KafkaException:
        return False
    return all(len(partition.isrs) == BROKERS for topic in topics.values() for partition in topic.partitions.values())


def machine() -> dict[str, object]:
    """Say what this ran on, and how busy that was."""
    return {"cpus": os.cpu_count(), "load_averages": [round(load, 1) for load in os.getloadavg()]}
