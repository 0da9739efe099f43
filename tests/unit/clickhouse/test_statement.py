"""What is told from the text of a statement."""

import pytest

from services.localstack.clickhouse.faults import EngineFault
from services.localstack.clickhouse.statement import Insert, Query, read


def test_rows_of_an_insert_may_stand_behind_its_text_and_in_the_body() -> None:
    assert read(b"INSERT INTO t (a) FORMAT TSV\n1\n", b"2\n", "TabSeparated") == Insert(
        "INSERT INTO t (a) ", "TSV", b"1\n2\n"
    )


def test_a_select_that_names_its_format_is_streamed() -> None:
    assert read(b"SELECT 1 FORMAT Native", b"", "TabSeparated") == Query("SELECT 1 FORMAT Native", "Native", True, True)


@pytest.mark.parametrize("text", [b"SELECT 1", b"SHOW TABLES FORMAT Native", b"SELECT 1 FORMAT Parquet"])
def test_all_else_is_answered_in_one_piece(text: bytes) -> None:
    answer = read(text, b"", "TabSeparated")
    assert isinstance(answer, Query)
    assert not answer.streams


@pytest.mark.parametrize("engine", ["Kafka", "kafka('a', 'b')", "NATS", "RabbitMQ SETTINGS x = 1"])
def test_engines_that_read_streams_are_refused(engine: str) -> None:
    with pytest.raises(EngineFault, match=r"Code: 48\..*ClickHouse server.*NOT_IMPLEMENTED"):
        read(f"CREATE TABLE k (a String)\n engine = {engine}".encode(), b"", "TabSeparated")


def test_the_word_kafka_elsewhere_is_no_engine() -> None:
    assert isinstance(read(b"SELECT 'Kafka' AS engine", b"", "TabSeparated"), Query)
