"""A whole local stack as `jobledger demo` leaves it, supervisor and all, with jobs in it, for every test here."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.cli.demo_site import serving as demo_site
from services.localstack.places import StackDir
from services.localstack.services import LOCAL_WRITERS
from tests.acceptance.commands import jobledger
from tests.integration.visible.standing import Standing
from tests.otlp_receiver import Receiver, receiving

JOBS = 13  # the fewest that a demo takes
START_SECONDS = 30.0


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    """What the processes tell their spans to."""
    with receiving() as receiver:
        yield receiver


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory, pages: str, receiver: Receiver) -> Iterator[Standing]:
    """The stack; whatever happens, its processes go on and then stop."""
    root: Path = tmp_path_factory.mktemp("visible")
    try:
        more = {LOCAL_WRITERS: "customer_postgres", "JOBLEDGER_OTLP": receiver.url}
        ran = jobledger(root, "demo", "--jobs", str(JOBS), "--json", more=more)
        assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
        standing = Standing(StackDir(root), pages, more)
        if standing.state().ephemeral:
            pytest.skip(f"needs a broker that tells where topics end; the broker is {standing.state().broker}")
        yield standing
    finally:
        jobledger(root, "down")


@pytest.fixture(scope="session")
def pages() -> Iterator[str]:
    """The base URL of a site of pages, served from a thread as long as the session lasts."""
    loop, bound = asyncio.new_event_loop(), threading.Event()
    urls: list[str] = []

    async def serve() -> None:
        async with demo_site() as url:
            urls.append(url)
            bound.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    serving = loop.create_task(serve())
    thread = threading.Thread(target=loop.run_until_complete, args=(serving,), daemon=True)
    thread.start()
    assert bound.wait(START_SECONDS)
    yield urls[0]
    loop.call_soon_threadsafe(serving.cancel)
    thread.join(START_SECONDS)
    loop.close()
