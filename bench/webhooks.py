"""`python -m bench.webhooks`: 300 messages a second to 20 endpoints of which one hangs; how long the others wait.

It is the endpoint side of the writer, from a delivery taken to the answer that the ledger is told; no broker is in it.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from aiohttp import web

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress
from services.runtime.networks import LOCAL
from services.runtime.settings import Settings
from services.writers.webhook.calls import Calls, endpoint_of
from services.writers.webhook.dispatch import Dispatch, throttles_of
from services.writers.webhook.endpoints import Endpoint, Name
from services.writers.webhook.payload import Where
from services.writers.webhook.sender import Sender
from services.writers.webhook.signing import new_secret
from services.writers.webhook.writer import WebhookWriter

RESULTS = Path(__file__).parent / "results" / "webhooks.json"
ENDPOINTS, RATE, HANG_SECONDS, SECONDS = 20, 300, 30.0, 40.0


class _Bench:
    """Stands for all that the dispatch talks to: endpoints, bodies, the read model and the ledger."""

    def __init__(self, url: str, others: int) -> None:
        self._others = others
        self.all_told = asyncio.Event()
        self._endpoints = {f"wh-{n}": Endpoint(f"{url}/{n}", True, [new_secret()]) for n in range(ENDPOINTS)}
        self.begun: dict[str, float] = {}
        self.waits: list[float] = []  # of the endpoints that do not hang

    async def find(self, name: Name) -> Endpoint | None:
        return self._endpoints[name[1]]

    async def get(self, key: str) -> bytes:
        return b""

    async def reached(self, partition: int, position: int, timeout_seconds: float) -> bool:
        return True

    async def tell_all(self, answers: Mapping[int, Sequence[DeliveryResult]]) -> None:
        now = time.monotonic()
        for result in (each for some in answers.values() for each in some):
            if result.destination_id != "wh-0" and not result.error_type:
                self.waits.append(now - self.begun[result.job_id])
        if len(self.waits) == self._others:
            self.all_told.set()


def delivery(number: int) -> Delivery:
    """Return the message with this number, each endpoint in turn."""
    return Delivery(
        org_id="bench", job_id=f"job-{number}", partition=0, destination_id=f"wh-{number % ENDPOINTS}", kind="webhook",
        generation=1, try_number=1, result_ref="", content_type="", extraction_ref="",
    )  # fmt: skip


async def measured(seconds: float) -> dict[str, float]:
    """Send for so long, and return how long the endpoints that do not hang waited."""

    async def take(request: web.Request) -> web.Response:
        await request.read()
        if request.path == "/0":
            await asyncio.sleep(HANG_SECONDS)
        return web.Response()

    app = web.Application()
    app.router.add_post("/{endpoint}", take)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    settings = Settings(kafka="", postgres="", registry="", blobs="", allowed_networks=LOCAL)
    others = sum(endpoint_of(delivery(number))[1] != "wh-0" for number in range(int(RATE * seconds)))
    bench, throttles = _Bench(f"http://127.0.0.1:{runner.addresses[0][1]}", others), throttles_of(settings)
    async with Sender(settings) as sender:
        writer = WebhookWriter(bench, bench, Calls(sender, throttles), Where())
        dispatch = Dispatch(writer.deliver, bench, bench, Progress("webhook"), throttles)  # type: ignore[arg-type]
        running = asyncio.create_task(dispatch.run())
        cpu, started = time.process_time(), time.monotonic()
        for number in range(int(RATE * seconds)):
            each, due = delivery(number), started + number / RATE
            bench.begun[each.job_id] = due  # a message that could not even be taken in time has waited too
            await asyncio.sleep(max(due - time.monotonic(), 0))
            await dispatch.add(DeliveryBatch(deliveries=(each,)), lambda: None)
        async with asyncio.timeout(60):
            await bench.all_told.wait()
        spent, took = time.process_time() - cpu, time.monotonic() - started
        running.cancel()
        await asyncio.wait({running})
    await runner.cleanup()
    cuts = statistics.quantiles(bench.waits, n=100)
    return {
        "messages_per_second": round(others / took * ENDPOINTS / (ENDPOINTS - 1), 1),
        "p50_ms": round(cuts[49] * 1000, 2),
        "p95_ms": round(cuts[94] * 1000, 2),
        "p99_ms": round(cuts[98] * 1000, 2),
        "cpu_ms_per_message_with_sink": round(spent / others * 1000, 3),
    }


def main() -> None:
    """Measure, print, and with --write keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    text = json.dumps(asyncio.run(measured(options.seconds)), indent=2) + "\n"
    sys.stdout.write(text)
    if options.write:
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
