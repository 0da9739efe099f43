"""A projection as a process, and the log that it follows, written as the decider would."""

import json
import os
import random
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from services.runtime import topics
from services.runtime.producer import Producer
from services.runtime.registry import encoder
from services.runtime.settings import Settings
from tests.environ import environ_of
from tests.event_streams import Stream, records_of


class Partition:
    """One partition of the real topic, written as the decider would."""

    def __init__(self, settings: Settings, partition: int) -> None:
        self._settings = settings
        orgs = (f"acme-{partition}", f"globex-{partition}")  # an org is on one partition
        self.stream = Stream(partition, orgs=orgs, encoder=encoder(settings)).open()
        self._said = 0

    def say(self, numbers: Iterator[int], producer: Producer) -> None:
        self.stream.play(numbers)
        for record in records_of(self.stream)[self._said :]:
            topic = topics.events(self._settings)
            producer.produce(topic, record.partition, record.key, record.value, record.headers)
        producer.flush()
        self._said = len(self.stream.events)


def numbers(seed: int, length: int) -> Iterator[int]:
    chosen = random.Random(seed)
    return (chosen.randrange(16 * 40) for _ in range(length))


@contextmanager
def process(settings: Settings, port: int, module: str = "projections") -> Iterator[subprocess.Popen[bytes]]:
    environ = os.environ | environ_of(settings) | {"JOBLEDGER_PORT": str(port), "JOBLEDGER_LOG_LEVEL": "WARNING"}
    child = subprocess.Popen([sys.executable, "-m", module], env=environ)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def ready(port: int) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as response:
            answer: dict[str, Any] = json.load(response)
            return answer
    except urllib.error.HTTPError as error:
        with error:
            said: dict[str, Any] = json.load(error)
            return said
    except OSError:
        return {"ready": False}
