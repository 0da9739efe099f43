"""`jobledger acls` prints all that a service needs and nothing more: one job goes the whole way on just these rights.

The broker says of every question of rights how it answered: none was denied, and every right was made use of.
"""

import asyncio
import contextlib
import json
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from projections.verify import verify
from schemas.client.reader import follow
from services.cli.client import Client
from services.localstack.broker_kafka import ApacheKafka
from services.localstack.child import Child
from services.localstack.stack import Stack
from services.runtime import topics
from services.runtime.acls import Acl
from services.runtime.admin import wait_for_broker
from services.runtime.dead_letter_topic import letters
from services.runtime.errors import BrokerFault
from services.runtime.group_lag import GroupLag
from services.runtime.producer import Producer
from services.runtime.reader import LogReader
from services.runtime.settings import Settings
from tests.conftest import Databases, making_settings
from tests.eventually import eventually
from tests.integration.secured.certificates import Authority
from tests.integration.secured.house import OPERATOR_KEY, House
from tests.integration.workers.plant import Site
from tests.unit.workers.fakes import service, workflow

pytestmark = pytest.mark.kafka
SHORT_SECONDS = 5.0
JOB_SECONDS = 60.0
RAN = ("decider", "workers", "writers", "projections", "projections-heads", "scheduler", "api")
ASKED = ("verification", "consumer")  # run in this process


@pytest.fixture(scope="module")
def house(stack: Stack, databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One broker for every test here."""
    if not isinstance(stack.broker, ApacheKafka):
        pytest.skip(f"needs Apache Kafka of the stack's own; the broker is {stack.broker}")
    with making_settings(stack, databases) as make:
        house = House(stack.broker, tmp_path_factory.mktemp("secured"), make())
        try:
            house.open()
            yield house
        finally:
            house.broker.stop()


def test_who_is_not_let_in_is_told_why(house: House, tmp_path_factory: pytest.TempPathFactory) -> None:
    good = house.settings("decider")
    wait_for_broker(good, SHORT_SECONDS)
    other = Authority(tmp_path_factory.mktemp("other"))
    for bad, why in (
        (replace(good, kafka_password="no"), "Authentication failed"),
        (replace(good, kafka_ca=str(other.ca)), "certificate"),
        (replace(good, kafka=good.kafka.replace("127.0.0.1", "localhost")), "certificate|hostname"),
    ):
        with pytest.raises(BrokerFault, match=why):
            wait_for_broker(bad, SHORT_SECONDS)


async def test_a_job_goes_the_whole_way_on_these_rights_and_needs_every_one_of_them(house: House) -> None:
    site = Site()
    await site.start()
    try:
        with house.running(*RAN) as running:
            api = next(each for each in running.processes() if each.name == "api")
            await _one_job(api.endpoint, site.url)
            await asyncio.to_thread(_junk, house.broker.settings)
            await asyncio.to_thread(_look, house)
            with contextlib.suppress(TimeoutError):
                await eventually(lambda: _unused(house) == _of_what_did_not_run(house), JOB_SECONDS)
            assert _unused(house) == _of_what_did_not_run(house)
            group = topics.workers_group(house.broker.settings, "workflow")
            lag = GroupLag(house.settings("operator"), topics.tasks(house.broker.settings, "workflow"), group)
            await lag.renew([0])
            assert letters(house.settings("operator"))
    finally:
        await site.close()
    ours = {*RAN, *ASKED, "operator"}
    assert [asked for asked in house.broker.audit() if asked.user in ours and not asked.allowed] == []


@pytest.mark.parametrize(
    ("name", "resource", "operation"),
    [
        ("decider", "transactional-id", "WRITE"),
        ("projections", "topic", "READ"),
        ("projections", "topic", "DESCRIBE_CONFIGS"),
    ],
)
async def test_without_one_of_its_rights_a_service_ends_and_says_so(
    house: House, name: str, resource: str, operation: str
) -> None:
    of_the_log = topics.events(house.broker.settings)
    [taken] = [
        acl
        for acl in house.acls[name]
        if (acl.resource, acl.operation) == (resource, operation)
        and (acl.resource != "topic" or acl.name == of_the_log)
        and "." in acl.name
        and not acl.name.endswith((".reader", ".ends"))
    ]
    with house.broker.without(f"User:{name}", taken):
        child = house.child(name)
        child.start()
        try:
            await eventually(lambda: child.returncode() is not None, JOB_SECONDS)
            assert child.returncode() != 0
            assert "authorization" in _log_of(child).lower()
        finally:
            child.stop()


def _log_of(child: Child) -> str:
    return child.log.read_text(errors="replace")


async def _one_job(api: str, url: str) -> None:
    async with Client(api, OPERATOR_KEY) as operator:
        made = await operator.register_org(f"acme-{uuid.uuid4().hex[:8]}", "Acme")
    async with Client(api, made.key.secret) as client:
        await client.save_workflow("w1", json.loads(workflow(service("a"))))
        [job_id] = await client.submit([f"{url}/page"], workflow_id="w1")

        async def completed() -> bool:
            return (await client.job(job_id)).status == "completed"

        await eventually(completed, JOB_SECONDS)


def _junk(settings: Settings) -> None:
    """Put what is no record of ours where each service reads: they dead-letter it."""
    producer = Producer(settings, "somebody")
    producer.start()
    for topic in (topics.commands, topics.events):
        producer.produce(topic(settings), 0, "acme", b"junk")
    producer.produce(topics.tasks(settings, "workflow"), 0, "acme", b"junk")
    producer.produce(topics.deliveries(settings, "postgres"), 0, "acme", b"junk")
    for partition, asker in _askers(settings):
        producer.produce(topics.replies(settings), partition, asker, b"junk")
    producer.close()


def _askers(settings: Settings) -> set[tuple[int, str]]:
    """Return who was answered so far, and on which partition: nobody reads what is for others."""
    topic = topics.replies(settings)
    with closing(LogReader(settings, topic, dict.fromkeys(range(topics.REPLY_PARTITIONS), 0))) as reader:
        found: set[tuple[int, str]] = set()
        while not reader.at_end():
            found |= {(record.partition, record.key) for record in reader.poll(1000, 1.0)}
    return found


def _look(house: House) -> None:
    """Verify the ledger, and read it as a consumer from outside does."""
    assert verify(house.settings("verification")).events
    settings = house.settings("consumer")
    with closing(follow(settings.connection().librdkafka(), topics.events(settings), settings.registry)) as reader:
        while not reader.at_end():
            reader.poll(1000, 1.0)


def _unused(house: House) -> dict[str, set[Acl]]:
    """Return the rights that nobody has made use of so far, by service."""
    used = {
        (asked.user, asked.resource, asked.operation, asked.name) for asked in house.broker.audit() if asked.allowed
    }

    def is_used(name: str, acl: Acl) -> bool:
        return any(
            (user, resource, operation) == (name, acl.resource, acl.operation)
            and (of.startswith(acl.name) if acl.prefixed else of == acl.name)
            for user, resource, operation, of in used
        )

    return {name: {acl for acl in house.acls[name] if not is_used(name, acl)} for name in (*RAN, *ASKED)}


def _of_what_did_not_run(house: House) -> dict[str, set[Acl]]:
    """Return rights to write for services that are none of those that ran: the decider's, of other kinds."""
    settings = house.broker.settings
    others = [topics.deliveries(settings, kind) for kind in topics.DELIVERY_KINDS if kind != "postgres"]
    others += [topics.tasks(settings, kind) for kind in topics.TASK_KINDS if kind != "workflow"]
    return {name: set() for name in (*RAN, *ASKED)} | {"decider": {Acl("topic", name, "WRITE") for name in others}}
