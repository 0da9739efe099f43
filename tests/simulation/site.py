"""The outside of workers: a site whose pages come, fail and hang."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from services.workers.providers.protocol import Fetched, FetchRequest, FetchResult, ProviderError
from tests.simulation.chaos import Chaos
from tests.simulation.life import Life, current

GOOD = b"<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p class=price>12.50 EUR</p>%s</body></html>" % (
    b"<p>A lamp of brass and glass, made by hand, with a cable of three metres and a warm light.</p>" * 5
)
FIRST = {"id": "one", "kind": "service", "settings": {"retries": 3, "retryDelayMs": 700, "jitter": 0.1}}
INSTANT = {"id": "two", "kind": "service", "settings": {"retries": 2, "retryBackoff": "instant"}}
CALLS = 6  # of a job that is long under way
FIELDS = [{"name": "title", "query": "h1", "required": True}]
WORKFLOWS: dict[str, dict[str, Any]] = {
    "workflows/short": {
        "name": "short",
        "nodes": [{"id": "in", "kind": "entry"}, FIRST, {"id": "out", "kind": "warehouse"}],
        "edges": [{"source": "in", "target": "one"}, {"source": "one", "target": "out", "on": "success"}],
    },
    "workflows/chain": {  # one call after the other, so that a cancel finds the next one before it
        "name": "chain",
        "nodes": [
            {"id": "in", "kind": "entry"},
            *({"id": f"n{number}", "kind": "service"} for number in range(CALLS)),
            {"id": "out", "kind": "warehouse"},
        ],
        "edges": [
            {"source": "in", "target": "n0"},
            *({"source": f"n{at}", "target": f"n{at + 1}", "on": "success"} for at in range(CALLS - 1)),
            {"source": f"n{CALLS - 1}", "target": "out", "on": "success"},
        ],
    },
    "workflows/long": {
        "name": "long",
        "nodes": [
            {"id": "in", "kind": "entry"},
            FIRST,
            INSTANT,
            {"id": "read", "kind": "extractor", "settings": {"fields": FIELDS, "schemaId": "product"}},
            {"id": "store", "kind": "warehouse"},
            {"id": "out", "kind": "result"},
            {"id": "bad", "kind": "failed"},
        ],
        "edges": [
            {"source": "in", "target": "one"},
            {"source": "one", "target": "read", "on": "success"},
            {"source": "one", "target": "two", "on": "fail"},
            {"source": "two", "target": "read", "on": "success"},
            {"source": "two", "target": "bad", "on": "fail"},
            {"source": "read", "target": "store", "on": "success"},
            {"source": "read", "target": "bad", "on": "fail"},
            {"source": "store", "target": "out"},
        ],
    },
}


def documents() -> dict[str, bytes]:
    """Return the workflow documents as they lie in the blob store."""
    return {ref: json.dumps(document).encode() for ref, document in WORKFLOWS.items()}


class Site:
    """Stands for the providers of a worker, and for their credentials; every worker meets the same site."""

    def __init__(self, chaos: Chaos) -> None:
        self.calls: list[tuple[float, str, str]] = []  # when, by whom, for which job
        self.side_by_side: list[str] = []  # calls for a job by a worker that was calling for the same job
        self._calling: defaultdict[tuple[Life, str], set[object]] = defaultdict(set)
        self._chaos = chaos

    async def start(self) -> None:
        """Need nothing."""

    async def close(self) -> None:
        """Hold nothing."""

    def provider(self, _name: str) -> "Site":
        """Return itself: one provider is enough."""
        return self

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Answer: pages under /gone/ are never there, others mostly are."""
        call = current(), request.job_id
        self.calls.append((asyncio.get_running_loop().time(), repr(call[0]), call[1]))
        mine, others = object(), set(self._calling[call])
        self._calling[call].add(mine)
        try:
            await asyncio.sleep(0.001)  # a run that is replaced by a newer attempt ends one step later
            if others & self._calling[call]:
                self.side_by_side.append(f"{call[0]} runs {call[1]} twice at once")
            return await self._answered(request)
        finally:
            self._calling[call].discard(mine)

    def calling(self, jobs: Collection[str]) -> bool:
        """Whether a worker that lives waits for a page of one of these jobs."""
        return any(calls and life.alive and job in jobs for (life, job), calls in self._calling.items())

    async def _answered(self, request: FetchRequest) -> FetchResult:
        random = self._chaos.random
        slow = 4.0 if "/slow/" in request.url else 1.0
        await asyncio.sleep(
            random.uniform(1.0, 9.0) if self._chaos.strikes("page_hangs") else slow * random.uniform(0.01, 0.6)
        )
        if self._chaos.strikes("page_fails"):
            after = random.choice((None, None, 1.0, 7.0))
            return ProviderError("http_5xx", "simulated", True, 503, after)
        if "/gone/" in request.url:
            return Fetched(404, "text/html", b"<html><body>Not found</body></html>", request.url, 1)
        return Fetched(200, "text/html", GOOD, request.url, 1)
