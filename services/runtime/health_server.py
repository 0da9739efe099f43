"""The small HTTP server of every process: /health, /ready and /metrics."""

from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import web

from services.runtime.health import Health
from services.runtime.metrics import CONTENT_TYPE, declared_for, expose, exposition
from services.runtime.settings import Settings


def health_routes(health: Health) -> list[web.RouteDef]:
    """Return the three routes, for an application that serves more than them.

    GET /health  200 while the process answers at all.
    GET /ready   200 or 503, JSON: ready, service, parts {name: {ready, reason?, figures...}}; ?part=NAME, once or
                 more: these parts alone decide.
    GET /metrics the text format of Prometheus.
    """

    expose(declared_for(health.service))

    async def alive(_request: web.Request) -> web.Response:
        return _json({"service": health.service, "alive": True}, 200)

    async def ready(request: web.Request) -> web.Response:
        report = health.report(request.query.getall("part", []))
        return _json(report, 200 if report["ready"] else 503)

    async def metrics(_request: web.Request) -> web.Response:
        health.report()
        return web.Response(body=exposition(), headers={"Content-Type": CONTENT_TYPE})

    return [web.get("/health", alive), web.get("/ready", ready), web.get("/metrics", metrics)]


@dataclass(frozen=True, slots=True)
class HealthServer:
    """A running server; `port` is the one it listens on."""

    port: int
    _runner: web.AppRunner

    async def close(self) -> None:
        """Stop listening."""
        await self._runner.cleanup()


async def serve(settings: Settings, health: Health) -> HealthServer:
    """Serve the three routes on settings.host and settings.port (0: any free port) until closed."""
    app = web.Application()
    app.add_routes(health_routes(health))
    runner = web.AppRunner(app, access_log=None, handle_signals=False)
    await runner.setup()
    site = web.TCPSite(runner, settings.host, settings.port)
    try:
        await site.start()
    except OSError:
        await runner.cleanup()
        raise
    return HealthServer(int(runner.addresses[0][1]), runner)


def _json(body: dict[str, Any], status: int) -> web.Response:
    return web.Response(body=orjson.dumps(body, default=str), status=status, content_type="application/json")
