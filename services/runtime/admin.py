"""Topics as the ledger needs them: made where missing, checked where they exist."""

import time
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigEntry, ConfigResource, NewTopic, ResourceType  # type: ignore[attr-defined]

from services.runtime.errors import BrokerFault, SettingsError
from services.runtime.kafka import client_config, error_of
from services.runtime.settings import Settings
from services.runtime.topics import Topic, all_topics, events

REQUEST_SECONDS = 20.0
LOOK_SECONDS = 0.05  # between two looks for what is not there yet
NOT_LET_IN = frozenset({KafkaError._AUTHENTICATION, KafkaError._SSL})  # noqa: SLF001
MAX_RECORD_BYTES = 1_048_588  # Kafka's default, said explicitly: dead letters and commands are sized by it


def wait_for_broker(settings: Settings, deadline_seconds: float) -> None:
    """Return when the broker answers; raise BrokerFault if it does not within the deadline."""
    told: list[KafkaError] = []
    client = AdminClient(client_config(settings, "wait") | {"error_cb": told.append})
    deadline = time.monotonic() + deadline_seconds
    while True:
        remaining = deadline - time.monotonic()
        try:
            client.list_topics(timeout=max(0.1, min(1.0, remaining)))
            return
        except KafkaException as exception:
            client.poll(0)  # brings what the client was told
            if time.monotonic() >= deadline:
                raise BrokerFault(
                    f"no Kafka broker answers at {settings.kafka} within {deadline_seconds:g} s "
                    f"({_why(told) or error_of(exception).name()}): start it with `jobledger up`, or correct "
                    "JOBLEDGER_KAFKA and the settings of its connection"
                ) from None


def _why(told: list[KafkaError]) -> str:
    """Return why a client was not let in, where it was told more than that nobody answers."""
    refusals = [error.str() for error in told if error.code() in NOT_LET_IN]
    return refusals[-1] if refusals else ""


def ensure_topics(settings: Settings) -> None:
    """Create the ledger's missing topics and check the others; safe to run from many processes at once.

    Raises SettingsError where a topic has another number of partitions than the settings say, or where the
    events topic would forget events; BrokerFault where the broker refuses or does not answer.
    """
    client = admin_client(settings)
    wanted = {topic.name: topic for topic in all_topics(settings)}
    present = _partition_counts(client)
    missing = [topic for name, topic in wanted.items() if name not in present]
    present |= create(client, settings, missing)
    for name, topic in wanted.items():
        _check_partitions(topic, present[name])
    if settings.broker != "tansu":  # it does not keep topic configuration
        _check_events_are_kept(client, events(settings))


def admin_client(settings: Settings) -> AdminClient:
    """Return a client that asks about topics, and changes them."""
    return AdminClient(client_config(settings, "topics"))


def create(client: AdminClient, settings: Settings, missing: list[Topic]) -> dict[str, int]:
    """Create topics, and return the partitions of each once the broker shows them; another process may be faster."""
    if not missing:
        return {}
    new = [
        NewTopic(
            topic.name,
            num_partitions=topic.partitions,
            replication_factor=settings.replication,
            config=topic_config(topic, settings.replication),
        )
        for topic in missing
    ]
    for name, future in client.create_topics(new, request_timeout=REQUEST_SECONDS).items():
        result_of(future, f"create topic {name}", fine=KafkaError.TOPIC_ALREADY_EXISTS)
    return _await_topics(client, [topic.name for topic in missing])


def topic_config(topic: Topic, replication: int) -> dict[str, str]:
    """Return the configuration that a topic of the ledger has on so many brokers."""
    return {
        "cleanup.policy": "delete",
        "retention.ms": str(topic.retention_ms),
        "retention.bytes": "-1",
        "max.message.bytes": str(MAX_RECORD_BYTES),
        "min.insync.replicas": str(max(1, replication - 1)),
        "message.timestamp.type": "CreateTime",
    }


def _partition_counts(client: AdminClient) -> dict[str, int]:
    try:
        topics = client.list_topics(timeout=REQUEST_SECONDS).topics
    except KafkaException as exception:
        raise BrokerFault(f"Kafka does not list its topics: {error_of(exception).str()}") from exception
    return {name: len(topic.partitions) for name, topic in topics.items() if topic.error is None}


def _await_topics(client: AdminClient, names: list[str]) -> dict[str, int]:
    """Return the partition counts once the broker's metadata shows every new topic."""
    deadline = time.monotonic() + REQUEST_SECONDS
    while True:
        present = _partition_counts(client)
        absent = [name for name in names if not present.get(name)]
        if not absent:
            return present
        if time.monotonic() >= deadline:
            raise BrokerFault(f"topics {', '.join(absent)} were created but do not appear; look at the broker's log")
        time.sleep(LOOK_SECONDS)


def _check_partitions(topic: Topic, found: int) -> None:
    if found != topic.partitions:
        raise SettingsError(
            f"topic {topic.name} has {found} partitions but the settings ask for {topic.partitions}: the number is "
            "fixed for the life of a ledger; correct JOBLEDGER_PARTITIONS or JOBLEDGER_TASK_SPREAD, or begin a new "
            "ledger under another JOBLEDGER_TOPIC_PREFIX"
        )


def _check_events_are_kept(client: AdminClient, topic: str) -> None:
    config = config_of(client, topic)
    kept = {name: config[name].value for name in ("retention.ms", "retention.bytes", "cleanup.policy")}
    if kept != {"retention.ms": "-1", "retention.bytes": "-1", "cleanup.policy": "delete"}:
        raise SettingsError(
            f"topic {topic} would lose events ({kept}): set retention.ms=-1, retention.bytes=-1, cleanup.policy=delete"
        )


def config_of(client: AdminClient, topic: str) -> dict[str, ConfigEntry]:
    """Describe a topic; in a cluster a broker may not know yet what another one has just made."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    deadline = time.monotonic() + REQUEST_SECONDS
    while True:
        [future] = client.describe_configs([resource], request_timeout=REQUEST_SECONDS).values()
        here = KafkaError.NO_ERROR if time.monotonic() >= deadline else KafkaError.UNKNOWN_TOPIC_OR_PART
        config: dict[str, ConfigEntry] | None = result_of(future, f"describe topic {topic}", fine=here)
        if config is not None:
            return config
        time.sleep(LOOK_SECONDS)


def result_of(future: "Future[Any]", what: str, fine: int = KafkaError.NO_ERROR) -> Any:
    """Return what Kafka answers to what it was asked to do; None where its error is the one that is fine."""
    try:
        return future.result(timeout=REQUEST_SECONDS + 5)
    except KafkaException as exception:
        error = error_of(exception)
        if error.code() != fine:
            raise BrokerFault(f"Kafka did not {what}: {error.name()}: {error.str()}") from exception
        return None
    except TimeoutError:
        raise BrokerFault(f"Kafka did not {what} within {REQUEST_SECONDS:g} s; look at the broker's log") from None
