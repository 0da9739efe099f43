"""How many commands wait for each partition, and whether they are decided: looked up apart from deciding."""

from collections.abc import Mapping

from services.decider.partition import PartitionDecider
from services.runtime.asking import keep_asking
from services.runtime.ends import Ends
from services.runtime.health import Progress
from services.runtime.metrics import level
from services.runtime.standstill import Standstill


async def watch_inboxes(ends: Ends, deciders: Mapping[int, PartitionDecider], progress: Progress) -> None:
    """Set the metric `commands_waiting` and tell a standstill, until cancelled; `ends` asks about their topic."""
    standstill = Standstill("commands")

    async def look() -> dict[str, object]:
        told = await ends.of(list(deciders))
        stands = {partition: deciders[partition].next_command for partition in told}
        waiting = {partition: max(0, end - stands[partition]) for partition, end in told.items()}
        for partition, commands in waiting.items():
            level("commands_waiting", commands, partition=str(partition))
        standstill.look(told, stands)
        return {"lag": sum(waiting.values())}

    await keep_asking(look, progress, who="Kafka")
