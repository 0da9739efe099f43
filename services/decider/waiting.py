"""How many commands wait for each partition: looked up apart from deciding, because it asks the broker."""

import asyncio
from collections.abc import Mapping

from services.decider.partition import PartitionDecider
from services.runtime import topics
from services.runtime.ends import Ends
from services.runtime.errors import BrokerFault
from services.runtime.metrics import level
from services.runtime.settings import Settings

EVERY_SECONDS = 5.0


async def watch_inboxes(settings: Settings, deciders: Mapping[int, PartitionDecider]) -> None:
    """Set the metric `commands_waiting` until cancelled; not on Tansu, whose end offsets are wrong."""
    ends = Ends(settings, topics.commands(settings))
    while settings.broker != "tansu":
        await asyncio.sleep(EVERY_SECONDS)
        try:
            told = await ends.of(list(deciders))
        except BrokerFault:
            continue  # /ready says so, by another watch
        for partition, end in told.items():
            level("commands_waiting", max(0, end - deciders[partition].next_command), partition=str(partition))
