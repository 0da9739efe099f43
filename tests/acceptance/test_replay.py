"""What arrived is delivered once more, through all processes: one message, a range, since; over the API and by hand."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import psycopg
import pytest

from api.config.orgs import INTERNAL_DESTINATION
from projections.verify import verify
from services.localstack.ports import port_for
from services.runtime.settings import Settings
from tests.acceptance.instances import Caller, instance, prepared
from tests.eventually import eventually
from tests.integration.workers.plant import ROOT, Plant, delivering
from tests.receiver import Receiver, receiving

SECONDS = 90.0  # for what takes some seconds on a machine with nothing else to do
HOOK = "/hook"


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    async with delivering(settings, tmp_path, "postgres", "webhook") as plant:
        plant.start("projections")
        yield plant


@dataclass
class Shop:
    """An org with an endpoint, and what arrived there."""

    plant: Plant
    caller: Caller
    api: str
    receiver: Receiver
    webhook_id: str = ""

    async def begin(self) -> None:
        """Register, and make an endpoint that gets the data of jobs."""
        await prepared(self.caller, self.api)
        asked = {"url": f"{self.receiver.url}{HOOK}", "eventTypes": []}
        status, made = await self.caller.call(self.api, "POST", "/api/v1/webhooks", asked)
        assert status == 201, made
        self.webhook_id = made["webhookId"]

    async def job(self, number: int) -> str:
        """Submit a job and return its id when everybody has its end."""
        asked = {"urls": [f"{self.plant.site.url}/p/{number}"]}
        status, made = await self.caller.call(self.api, "POST", "/api/v1/jobs", asked)
        assert status == 201, made
        job_id = str(made["jobs"][0]["jobId"])
        await self.plant.until("JobCompleted", job_id, SECONDS)
        await self.acked({job_id: 1})
        return job_id

    async def acked(self, generations: dict[str, int], destination_id: str = "") -> None:
        """Wait until the read model has an ACK of these generations of the message, or of another delivery."""

        async def there() -> bool:
            for job_id, generation in generations.items():
                _, found = await self.caller.call(self.api, "GET", f"/api/v1/jobs/{job_id}/deliveries")
                acked = [
                    each["generation"]
                    for each in found["deliveries"]
                    if each["destinationId"] == (destination_id or self.webhook_id) and each["status"] == "acked"
                ]
                if max(acked, default=0) != generation:
                    return False
            return True

        await eventually(there, SECONDS)

    async def replay(self, **asked: Any) -> Any:
        """Replay over the API and return the answer."""
        path = f"/api/v1/webhooks/{self.webhook_id}/replay"
        status, done = await self.caller.call(self.api, "POST", path, {"only": "all"} | asked)
        assert status == 202, done
        return done["replayed"]

    async def by_hand(self, *arguments: str) -> str:
        """Replay by the command line, as a person does, and return what it prints."""
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "services.cli", "webhooks", "replay", self.webhook_id, *arguments],
            env=os.environ | {"JOBLEDGER_API": self.api, "JOBLEDGER_KEY": self.caller.key},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return str(done.stdout).strip()


def now() -> str:
    """Return an instant as callers write it; what is asked for behind it is requested later."""
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


@pytest.mark.kafka
async def test_one_a_range_and_since_are_replayed_and_redelivered_each_once_more(plant: Plant, tmp_path: Path) -> None:
    async with aiohttp.ClientSession() as session, receiving() as receiver:
        api = await instance(plant, port_for(tmp_path / "ports.json", "api"), session)
        shop = Shop(plant, Caller(session), api, receiver)
        await shop.begin()
        before = now()
        first = await shop.job(1)
        between = now()
        second, third = await shop.job(2), await shop.job(3)

        assert await shop.replay(jobId=second) == 1  # one
        await shop.acked({second: 2})
        assert await shop.replay(since=before, until=between) == 1  # a range: the first
        await shop.acked({first: 2})
        assert await shop.replay(since=between, jobId=third) == 1
        await shop.acked({third: 2})
        behind = now()
        assert await shop.by_hand("--all", "--since", behind) == "0 sent once more"
        assert await shop.by_hand("--since", before) == "0 sent once more"  # nothing failed
        assert await shop.by_hand("--all", "--job", first, "--idempotency-key", "once") == "1 sent once more"
        assert await shop.by_hand("--all", "--job", first, "--idempotency-key", "once") == "1 sent once more"
        await shop.acked({first: 3})
        assert await shop.by_hand("--all", "--until", behind) == "2 sent once more"  # the newest of the first is later
        await shop.acked({second: 3, third: 3})

        for job_id, destination_id, generation in ((first, INTERNAL_DESTINATION, 2), (third, shop.webhook_id, 4)):
            redeliver = f"/api/v1/jobs/{job_id}/deliveries/{destination_id}/redeliver"
            assert (await shop.caller.call(api, "POST", redeliver))[0] == 202
            await shop.acked({job_id: generation}, destination_id)
        report = await asyncio.to_thread(verify, plant.settings)

    told = Counter(got.message_id for got in receiver.got[HOOK])
    assert sorted(told.values()) == [3, 3, 4]
    assert len({(got.message_id, got.body) for got in receiver.got[HOOK]}) == 3, "each is byte-equal every time"
    with psycopg.connect(plant.settings.postgres) as connection:
        rows = connection.execute("SELECT job_id, generation FROM extraction.extraction_results").fetchall()
    assert dict(rows) == {first: 2, second: 1, third: 1}
    assert report.faults == []
