"""What each service may do on the brokers: the access control list of each principal, no more than it uses.

READ and WRITE of a topic, and READ of a group, imply DESCRIBE in Kafka: it is listed only where it stands alone.
"""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from services.runtime import topics
from services.runtime.settings import Settings

Resource = Literal["topic", "group", "transactional-id"]
Operation = Literal["READ", "WRITE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "CREATE"]
OPERATOR = "operator"  # who makes topics, and uses the command line
CONSUMER = "consumer"  # somebody else's program, by schemas.client.reader.follow
CONSUMERS_GROUP = "jobledger-consumer"  # which that client names, and never joins


class Acl(Struct, frozen=True, order=True):
    """One thing that a principal may do; `prefixed`: on everything whose name begins so."""

    resource: Resource
    name: str
    operation: Operation
    prefixed: bool = False


def acls(settings: Settings) -> dict[str, tuple[Acl, ...]]:
    """Return what every service needs, by the service's name; only the prefix of topics is asked of the settings."""
    following = (*_reads(settings), *_topic(topics.events(settings), "READ"), *_checks_topics(settings))
    services: dict[str, Iterable[Acl]] = {
        "decider": _decider(settings),
        "workers": _workers(settings, "workflow"),
        "workers-module": _workers(settings, "module"),
        "workers-spider": _workers(settings, "spider"),
        **{_writers_name(kind): _writers(settings, kind) for kind in topics.DELIVERY_KINDS},
        "projections": (*following, *_parks(settings)),
        "projections-clickhouse": following,
        "projections-heads": following,
        "snapshotter": following,
        "scheduler": (*_commands(settings), *_checks_topics(settings)),
        "api": (*_commands(settings), *_topic(topics.events(settings), "READ"), *_checks_topics(settings)),
        "verification": (
            Acl("group", topics.reader_group(settings), "DESCRIBE"),
            *_topic(topics.events(settings), "READ"),
        ),
        OPERATOR: _operator(settings),
        CONSUMER: (
            Acl("group", CONSUMERS_GROUP, "DESCRIBE"),
            *_topic(topics.events(settings), "READ"),
        ),
    }
    return {name: _without_implied(given) for name, given in services.items()}


def _decider(settings: Settings) -> Iterable[Acl]:
    yield from _reads(settings)
    yield from _parks(settings)
    yield from _topic(topics.commands(settings), "READ")
    yield from _topic(topics.events(settings), "READ", "WRITE")
    yield from _topic(topics.replies(settings), "WRITE")
    for kind in topics.TASK_KINDS:
        yield from _topic(topics.tasks(settings, kind), "WRITE")
    for kind in topics.DELIVERY_KINDS:
        yield from _topic(topics.deliveries(settings, kind), "WRITE")
    yield Acl("transactional-id", topics.transactional_id(settings, "decider-"), "WRITE", prefixed=True)


def _workers(settings: Settings, kind: str) -> Iterable[Acl]:
    yield from _commands(settings)
    yield from _topic(topics.tasks(settings, kind), "READ")
    yield Acl("group", topics.workers_group(settings, kind), "READ")


def _writers(settings: Settings, kind: str) -> Iterable[Acl]:
    yield from _commands(settings)
    yield from _topic(topics.deliveries(settings, kind), "READ")
    yield Acl("group", topics.writers_group(settings, kind), "READ")


def _writers_name(kind: str) -> str:
    return "writers" if kind == "postgres" else f"writers-{kind.replace('_', '-')}"


def _operator(settings: Settings) -> Iterable[Acl]:
    """Makes topics and alters them, and what the verbs of the command line do: lags, the tail, dead letters."""
    yield from _reads(settings)
    yield from _parks(settings)
    yield from _topic(topics.events(settings), "READ")
    for topic in topics.all_topics(settings):
        yield from _topic(topic.name, "CREATE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS")
    lagging = [(topics.tasks(settings, kind), topics.workers_group(settings, kind)) for kind in topics.TASK_KINDS]
    lagging += [
        (topics.deliveries(settings, kind), topics.writers_group(settings, kind)) for kind in topics.DELIVERY_KINDS
    ]
    for name, group in lagging:
        yield from _topic(name, "READ", "WRITE")
        yield Acl("group", group, "DESCRIBE")
    for name in (topics.commands(settings), topics.replies(settings)):
        yield from _topic(name, "READ", "WRITE")


def _reads(settings: Settings) -> Iterable[Acl]:
    """Reads partitions by itself, as everything but the consumers of workers and writers does."""
    yield Acl("group", topics.reader_group(settings), "DESCRIBE")
    yield Acl("group", topics.ends_group(settings), "DESCRIBE")


def _parks(settings: Settings) -> Iterable[Acl]:
    """Dead-letters records; what others parked within the hour counts, so it reads them too."""
    yield from _topic(topics.dead_letters(settings), "READ", "WRITE")


def _commands(settings: Settings) -> Iterable[Acl]:
    """Asks the deciders, and dead-letters what is no reply."""
    yield from _reads(settings)
    yield from _parks(settings)
    yield from _topic(topics.commands(settings), "WRITE")
    yield from _topic(topics.replies(settings), "READ")


def _checks_topics(settings: Settings) -> Iterable[Acl]:
    """Looks at its start whether the topics are as they should be. It may not make them: that is the operator's."""
    for topic in topics.all_topics(settings):
        yield from _topic(topic.name, "DESCRIBE")
    yield from _topic(topics.events(settings), "DESCRIBE_CONFIGS")


def _topic(name: str, *operations: Operation) -> Iterable[Acl]:
    return (Acl("topic", name, operation) for operation in operations)


def _without_implied(given: Iterable[Acl]) -> tuple[Acl, ...]:
    every = set(given)
    known = {(acl.resource, acl.name) for acl in every if acl.operation in ("READ", "WRITE")}
    return tuple(sorted(acl for acl in every if acl.operation != "DESCRIBE" or (acl.resource, acl.name) not in known))
