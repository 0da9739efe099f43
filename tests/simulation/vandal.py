"""Somebody who writes to topics that are not his."""

import asyncio

from services.ledger.commands import CancelJob
from services.ledger.wire import COMMANDS
from services.runtime.settings import Settings
from services.runtime.topics import commands, deliveries, events, tasks
from tests.simulation.broker import Broker
from tests.simulation.chaos import Chaos

Place = tuple[str, int, int]  # topic, partition, offset


async def vandalise(settings: Settings, broker: Broker, chaos: Chaos, junk: set[Place]) -> None:
    """Write what is no message here, and note where it lies."""
    random = chaos.random
    for _ in range(random.choice((0, 0, 1, 3))):
        await asyncio.sleep(random.uniform(0.0, 4.0))
        theirs = commands(settings), tasks(settings, "workflow"), deliveries(settings, "postgres"), events(settings)
        topic = random.choice(theirs)
        partition = broker.partition(topic, random.choice(list(broker.partitions(topic))))
        stranger = COMMANDS.encode(CancelJob(command_id="x", org_id="stranger", job_id="j"))
        value = random.choice((b"junk", b"", stranger))
        offset = partition.append(broker.entry(b"stranger", value, []))
        junk.add((topic, partition.number, offset))
