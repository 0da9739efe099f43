"""Every command of the runbooks runs, on a real stack and in the situation that its page is for.

These tests stop and start the stack, and leave it running.
"""

import asyncio
import os
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path

import psycopg
import pytest

from services.cli.kept_keys import kept_key
from services.localstack.postgres import find_postgres
from services.runtime import topics
from services.runtime.producer import Producer
from services.runtime.settings import settings_from
from tests.acceptance.commands import REPLACED_PARTS
from tests.eventually import eventually
from tests.integration.visible.runbooks import Block, blocks_of, pages
from tests.integration.visible.standing import JOB_SECONDS, Standing

BLOCK_SECONDS = 300.0
PAGES = pages()


@asynccontextmanager
async def gate_stuck(standing: Standing) -> AsyncIterator[dict[str, str]]:
    """A job whose writer stands still."""
    with standing.stopped("writers"):
        job_id = await asyncio.to_thread(standing.submit)

        async def extracted() -> bool:
            return bool((await asyncio.to_thread(standing.command, "get", job_id))["status"] == "extraction_done")

        await eventually(extracted, JOB_SECONDS)
        yield {"JOB": job_id, "DESTINATION": "internal-postgres"}


@asynccontextmanager
async def letter_parked(standing: Standing) -> AsyncIterator[dict[str, str]]:
    """A record on the topic of commands that is none."""
    settings = settings_from(standing.state().environ)
    producer = Producer(settings, "test")
    producer.start()
    with closing(producer):
        await producer.send(topics.commands(settings), 0, "nobody", b"\xc1 no command")

    letters: list[dict[str, object]] = []

    async def parked() -> bool:
        found = await asyncio.to_thread(standing.command, "dead-letters", "list", "--waiting")
        letters[:] = found["letters"]
        return bool(letters)

    await eventually(parked, JOB_SECONDS)
    yield {"LETTER": str(letters[-1]["number"])}


@asynccontextmanager
async def database_empty(standing: Standing) -> AsyncIterator[dict[str, str]]:
    """An empty database beside that of the stack."""
    server = standing.state().environ["JOBLEDGER_POSTGRES"].rpartition("/")[0]
    name = f"restored_{uuid.uuid4().hex}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    yield {"EMPTY_POSTGRES": f"{server}/{name}"}


SCENES = {"stuck_gate": gate_stuck, "dead_letters": letter_parked, "restore": database_empty}


@asynccontextmanager
async def healthy(standing: Standing) -> AsyncIterator[dict[str, str]]:
    """A stack that works, with a job that has ended."""
    job_id = await asyncio.to_thread(standing.submit)
    await standing.completed(job_id)
    yield {"JOB": job_id}


def environ_of(standing: Standing, block: Block, more: Mapping[str, str]) -> dict[str, str]:
    """Return what a block finds in its environment."""
    state = standing.state()
    api, decider, broker = (state.process(name) for name in ("api", "decider", "broker"))
    assert api
    assert decider
    assert broker
    assert broker.identity
    own = {
        "PATH": ":".join(map(str, (Path(sys.executable).parent, find_postgres() or "", os.environ["PATH"]))),
        "JOBLEDGER_STACK_DIR": str(standing.directory.root),
        **standing.settings,
        "ORG": kept_key(standing.directory).org_id,
        "API": api.endpoint,
        "DECIDER": decider.endpoint,
        "BROKER_PID": str(broker.identity.pid),
    }
    parts = {} if block.starts_the_stack else state.environ
    return {**{k: v for k, v in os.environ.items() if k not in REPLACED_PARTS}, **parts, **own, **more}


@pytest.mark.stack
@pytest.mark.parametrize("page", [page for page, blocks in PAGES.items() if blocks])
async def test_every_command_of_a_runbook_runs(standing: Standing, tmp_path: Path, page: str) -> None:
    await standing.until_ready()
    async with SCENES.get(page, healthy)(standing) as more:
        for block in PAGES[page]:
            if block.not_here:
                continue
            ran = await asyncio.to_thread(
                subprocess.run,
                ["bash", "-euo", "pipefail", "-c", block.script],
                env=environ_of(standing, block, more),
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=BLOCK_SECONDS,
                check=False,
            )
            assert ran.returncode == 0, f"docs/operations/{block}\n{block.script}\n{ran.stdout}\n{ran.stderr}"
    await standing.until_ready()


@pytest.mark.parametrize("block", [each for page in PAGES.values() for each in page if each.not_here], ids=str)
def test_what_cannot_run_here_says_why(block: Block) -> None:
    pytest.skip(f"docs/operations/{block.page}.md, line {block.line}: {block.not_here}")


def test_a_block_that_no_test_would_run_is_named() -> None:
    assert [block.script for block in blocks_of("p", "```sh\na\n```\ntext\n```sh not here: why\nb\n```\n")] == [
        "a\n",
        "b\n",
    ]
    for text in ("```bash\na\n```", "```sh later\na\n```", "```\na\n```", "```sh\n```"):
        with pytest.raises(ValueError, match="p:1: a block is"):
            list(blocks_of("p", text))
    with pytest.raises(ValueError, match="p:1: the block has no end"):
        list(blocks_of("p", "```sh\na\n"))


def test_the_index_names_every_page() -> None:
    text = (Path(__file__).parents[3] / "docs" / "operations" / "README.md").read_text()
    assert {name for name in PAGES if f"]({name}.md)" in text} == set(PAGES) - {"README"}
