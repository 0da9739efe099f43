"""Sites on a real socket for modules to read, and the tools of an attempt that fetch from them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web

from schemas.private import private_json
from services.runtime.networks import LOCAL
from services.workers.modules.protocol import Item, Module, ModuleFailed, Outcome
from services.workers.modules.registry import read_params
from services.workers.modules.tools import AttemptTools, OtherItems
from services.workers.providers.direct import DirectProvider
from services.workers.providers.protocol import Provider
from services.workers.steps import Tools
from tests.unit.modules.small import NoOthers
from tests.unit.providers.sites import serving
from tests.unit.workers.fakes import GOOD, MemoryBlobs

MAX_BODY_BYTES = 16 * 1024 * 1024
TITLE = {"fields": [{"name": "name", "query": "h1"}]}

Page = bytes | int | web.Response  # a number: the status of an answer without a body


@dataclass
class Site:
    """Pages by their paths, and which were asked for; `base` stands for the address in what they say."""

    pages: Mapping[str, Page] = field(default_factory=dict)
    base: str = ""
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer with a page, 404 where there is none."""
        self.asked.append(request.path)
        page = self.pages.get(request.path)
        if isinstance(page, bytes):
            body = page if page.startswith(b"\x1f\x8b") else page.replace(b"{base}", self.base.encode())
            return web.Response(body=body, content_type="text/html" if body.startswith(b"<html") else "text/xml")
        return web.Response(status=page) if isinstance(page, int) else page or web.Response(status=404)


@dataclass(frozen=True)
class _Direct:
    direct: DirectProvider

    def provider(self, name: str) -> Provider:
        assert name == "direct"
        return self.direct


@dataclass
class Bench:
    """A module, its site, and what it says."""

    module: Module
    site: Site
    tools: AttemptTools
    unread: list[str] = field(default_factory=list)  # sitemaps, of the last plan

    async def plan(self, **params: Any) -> list[Mapping[str, Any]]:
        """Return the plan of a job."""
        read, faults = read_params(self.module, params)
        assert faults == []
        return [value async for value in self.module.plan(read, self.tools)]

    async def urls(self, path: str = "/sitemap.xml", **params: Any) -> list[str]:
        """Return the pages that are planned, without the address of the site."""
        plan = await self.plan(url=f"{self.site.base}{path}", extract=TITLE, **params)
        self.unread = [value["url"].removeprefix(self.site.base) for value in plan if "unread" in value]
        return [value["url"].removeprefix(self.site.base) for value in plan if "unread" not in value]

    async def why_none(self, path: str = "/sitemap.xml", **params: Any) -> str:
        """Return why a job fails while it is planned."""
        try:
            urls = await self.urls(path, **params)
        except ModuleFailed as error:
            return str(error)
        raise AssertionError(f"planned: {urls}")

    async def run(self, values: Sequence[Mapping[str, Any]], **params: Any) -> list[Outcome]:
        """Return what comes of a plan."""
        read, faults = read_params(self.module, params)
        assert faults == []
        items = [Item(number, value) for number, value in enumerate(values)]
        return [outcome async for outcome in self.module.run(read, items, self.tools)]

    def said(self) -> list[str]:
        """Return what was logged since last asked."""
        lines = [line for part in self.tools.take_lines() for line in _lines(part.private)]
        return [f"{line['level']}: {line['message']}".replace(self.site.base, "") for line in lines]


def _lines(private: bytes) -> list[dict[str, str]]:
    lines: list[dict[str, str]] = msgspec.json.decode(private_json(private) or b"")["lines"]
    return lines


@asynccontextmanager
async def bench(module: Module, pages: Mapping[str, Page], others: OtherItems | None = None) -> AsyncIterator[Bench]:
    """Serve a site and give a module the tools to read it with."""
    site = Site(pages)
    direct = DirectProvider(max_body_bytes=MAX_BODY_BYTES, allowed_networks=LOCAL)
    await direct.start()
    try:
        async with serving(site.answer) as site.base:
            steps = Tools(_Direct(direct), MemoryBlobs())
            yield Bench(module, site, AttemptTools(steps, others or NoOthers(), "acme", "j1", 0))
    finally:
        await direct.close()


def named(name: str) -> bytes:
    """Return a page of a product."""
    return GOOD.replace(b"<h1>Lamp</h1>", f"<h1>{name}</h1>".encode())
