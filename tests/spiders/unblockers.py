"""An unblocker on this machine: a proxy that asks who comes, opens tunnels itself, and answers for all sites."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.integration.secured.certificates import Authority

KEY = "s3cret-of-the-worker"
USERS = ("me", "me-country-de")
SITE = "shop.example"
LONG = 100_000  # bytes of the page /long


@dataclass
class Unblocking:
    """What an unblocker was asked."""

    url: str = ""
    ca: Path = Path()
    requests: list[tuple[str, str, str]] = field(default_factory=list)  # user, method, URL
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    refused: int = 0


@asynccontextmanager
async def unblocking(folder: Path) -> AsyncIterator[Unblocking]:
    """Run one; its authority's certificate lies in the folder."""
    authority = Authority(folder)
    known = Unblocking(ca=authority.ca)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.server("127.0.0.1", SITE).both)

    async def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _serve(known, context, reader, writer)
        except (OSError, asyncio.IncompleteReadError):  # who asked has gone
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(come, "127.0.0.1", 0)
    async with server:
        known.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield known


async def _serve(
    known: Unblocking, context: ssl.SSLContext, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    method, url, headers = await _head(reader)
    user = _user(headers)
    if user is None:
        known.refused += 1
        writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        return
    if method == "CONNECT":
        host = url.removesuffix(":443")
        writer.write(b"HTTP/1.1 200 Tunnel\r\n\r\n")
        await writer.drain()
        await writer.start_tls(context)
        method, path, headers = await _head(reader)
        url = f"https://{host}{path}"
    known.requests.append((user, method, url))
    known.headers.append(headers)
    known.bodies.append(await reader.readexactly(int(headers.get("content-length", "0"))))
    body = b"x" * LONG if url.endswith("/long") else b'["routed"]'
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nX-Site: yes\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
    await writer.drain()


async def _head(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str]]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    method, url, _ = first.split(" ")
    return method, url, {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _user(headers: dict[str, str]) -> str | None:
    kind, _, told = headers.get("proxy-authorization", "").partition(" ")
    user, _, key = base64.b64decode(told).decode().partition(":") if kind == "Basic" else ("", "", "")
    return user if user in USERS and key == KEY else None
