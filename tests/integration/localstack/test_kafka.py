"""Apache Kafka's data directory is made with any cluster id."""

import base64
import os
import secrets
from pathlib import Path

import pytest

from services.localstack.broker_kafka import ApacheKafka, kafka_program
from services.localstack.places import StackDir
from services.localstack.stack import Stack


@pytest.mark.kafka
def test_a_cluster_id_may_begin_with_a_dash(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not isinstance(stack.broker, ApacheKafka):
        pytest.skip(f"needs Apache Kafka of the stack's own; the broker is {stack.broker}")
    dashed = base64.urlsafe_b64decode("-" * 22 + "==")
    monkeypatch.setattr(secrets, "token_bytes", lambda _size: dashed)
    directory = StackDir(tmp_path)
    directory.create()
    kafka_program(stack.broker, directory, os.environ)
    assert "cluster.id=--" in (directory.kafka / "data" / "meta.properties").read_text()
