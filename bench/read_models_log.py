"""Puts a dealt log onto the topic of events: the same events for the same number of partitions, each time."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec

from bench.job_log import JobLog
from services.decider.batch import StoredEvent
from services.decider.outgoing import event_headers
from services.runtime import topics
from services.runtime.producer import Producer
from services.runtime.registry import encoder
from services.runtime.settings import Settings, settings_from

AT_ONCE = 2  # processes: one for each core of the machine that the targets are for
IN_A_ROW = 200  # events of a partition before the next one comes


class Share(msgspec.Struct, frozen=True):
    """What one process puts there: of each of these partitions the events behind the first ones, up to a number."""

    partitions: list[int]
    behind: dict[int, int]
    events: int


def send(producer: Producer, settings: Settings, event: StoredEvent) -> None:
    """Hand an event to the producer as the decider does, but for the transaction."""
    header = event.recorded.header
    headers = event_headers(event.recorded, event.stored)
    producer.produce(topics.events(settings), header.partition, event.recorded.event.org_id, event.stored, headers)


def dealing(settings: Settings, partition: int) -> Iterator[StoredEvent]:
    """Deal the events of a partition, without end."""
    return JobLog(partition, encoder(settings)).events()


def deal(settings: Settings, environ: Mapping[str, str], events: int, behind: dict[int, int]) -> None:
    """Put the rest of a log of so many events onto the topic, in equal shares; `behind`: how many are there already."""
    each = events // settings.partitions
    shares = [Share(list(range(first, settings.partitions, AT_ONCE)), behind, each) for first in range(AT_ONCE)]
    running = [
        subprocess.Popen((sys.executable, "-m", __name__, msgspec.json.encode(share).decode()), env=environ)
        for share in shares
    ]
    if any(process.wait() for process in running):
        raise RuntimeError("the log could not be put onto the topic: see above")


def main() -> int:
    """Put one share onto the topic."""
    share, settings = msgspec.json.decode(sys.argv[1], type=Share), settings_from(os.environ)
    producer = Producer(settings, "bench-log")
    producer.start()
    left = {partition: share.events - share.behind.get(partition, 0) for partition in share.partitions}
    logs = {partition: dealing(settings, partition) for partition in share.partitions}
    for partition, log in logs.items():
        for _ in islice(log, share.behind.get(partition, 0)):
            pass
    while any(left.values()):
        for partition, log in logs.items():
            for event in islice(log, min(IN_A_ROW, left[partition])):
                send(producer, settings, event)
            left[partition] -= min(IN_A_ROW, left[partition])
    producer.close(60.0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
