"""Each process turns red when what it stands on stands still, says what it waits for, and turns green again."""

import sys

import pytest

from services.localstack.services import SERVICES as DEFAULT
from services.localstack.services import WAREHOUSE_WRITERS
from services.localstack.status import ProcessStatus
from tests.integration.visible.standing import PROMISED_SECONDS, Standing

pytestmark = pytest.mark.stack
SERVICES = (*DEFAULT, WAREHOUSE_WRITERS["customer_postgres"])
Found = dict[str, ProcessStatus]
NAMED = {  # what the reason of a red process calls it
    "broker": "Kafka",
    "postgres": "Postgres",
    "clickhouse": "ClickHouse",
    "decider": "decider",
    "registry": "registry",
}


def waits_for(process: ProcessStatus, server: str) -> bool:
    """Whether a process is red and names what it waits for."""
    return process.state == "not ready" and NAMED[server].lower() in process.reason.lower()


@pytest.mark.parametrize("server", NAMED)
async def test_who_stands_on_a_server_is_red_while_it_stands_still_and_nobody_else(
    standing: Standing, server: str
) -> None:
    needy = {service.name for service in SERVICES if server in service.needs}
    others = {service.name for service in SERVICES} - needy - {server}
    await standing.until_ready()

    def as_it_should_be(found: Found) -> bool:
        return all(waits_for(found[name], server) for name in needy) and all(
            found[name].state == "ready" for name in others
        )

    with standing.stopped(server):
        red = await standing.until(as_it_should_be, f"red where it stands on {server}, green elsewhere")
        reasons = {name: process.reason for name, process in standing.processes().items() if name in needy}
    green = await standing.until_ready()
    late = "" if max(red, green) <= PROMISED_SECONDS else f" (promised: {PROMISED_SECONDS:g} s on a quiet machine)"
    sys.stdout.write(f"\n{server} stopped: red after {red:.1f} s, green after {green:.1f} s{late}: {sorted(needy)}\n")
    for name, reason in reasons.items():
        sys.stdout.write(f"  {name}: {reason}\n")
