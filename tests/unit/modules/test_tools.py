"""What a module works with in one attempt."""

import time

import msgspec
import pytest

from schemas.private import private_json
from services.workers.modules.tools import AttemptTools
from services.workers.steps import Tools
from tests.unit.modules.small import NoOthers
from tests.unit.workers.fakes import MemoryBlobs, OneProvider, ScriptedProvider


async def test_a_line_has_the_time_of_the_clock_that_a_simulation_may_replace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_793_000_000.25)
    tools = AttemptTools(Tools(OneProvider(ScriptedProvider()), MemoryBlobs()), NoOthers(), "acme", "j1", 0)
    tools.log("info", "here")
    [said] = tools.take_lines()
    lines = msgspec.json.decode(private_json(said.private) or b"{}")["lines"]
    assert [line["timestamp"] for line in lines] == ["2026-10-26T07:33:20.250Z"]
