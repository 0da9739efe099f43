"""The shared fixtures hand out what they promise."""

from collections.abc import Callable

import psycopg
import pytest

from services.localstack.program import http_get, kafka_answers
from services.localstack.stack import Stack
from services.runtime.settings import Settings


def test_two_settings_share_neither_topics_nor_database_nor_blobs(new_settings: Callable[[], Settings]) -> None:
    one, other = new_settings(), new_settings()
    assert one.topic_prefix != other.topic_prefix
    assert one.blobs != other.blobs
    with psycopg.connect(one.postgres) as connection:
        connection.execute("CREATE TABLE only_here ()")
    with psycopg.connect(other.postgres) as connection:
        assert connection.execute("SELECT to_regclass('only_here')").fetchone() == (None,)


def test_broker_and_registry_answer(stack: Stack, settings: Settings) -> None:
    assert kafka_answers(int(settings.kafka.rpartition(":")[2]))
    assert http_get(int(settings.registry.rpartition(":")[2]), "/subjects")[0] == 200


@pytest.mark.kafka
def test_marked_tests_run_on_apache_kafka_only(settings: Settings) -> None:
    assert settings.broker != "tansu"
