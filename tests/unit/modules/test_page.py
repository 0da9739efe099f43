"""The module that docs/modules.md writes is one: it runs as it stands there, in 30 lines."""

import re
from pathlib import Path
from typing import Any

from services.workers.modules.protocol import Item, Outcome
from services.workers.modules.registry import read_params
from services.workers.providers.protocol import Fetched, FetchResult, ProviderError

PAGE = Path(__file__).parents[3] / "docs" / "modules.md"


class Pages:
    """Has one page."""

    async def fetch(self, url: str) -> FetchResult:
        """Return it, or an error."""
        if url == "http://a":
            return Fetched(200, "text/html", b"<title>Lamp", url, 1)
        return ProviderError("http_4xx", "the site answered 404")


async def test_the_module_of_the_page_runs_in_thirty_lines() -> None:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    assert len(found[1].splitlines()) <= 30
    named: dict[str, Any] = {}
    exec(found[1], named)
    module, tools = named["Titles"](), Pages()
    params, faults = read_params(module, {"urls": ["http://a", "http://b"]})
    assert faults == []
    assert read_params(module, {"urls": []})[1] == ["urls: give at least one"]
    plan = [value async for value in module.plan(params, tools)]
    items = [Item(number, value) for number, value in enumerate(plan)]
    outcomes = [outcome async for outcome in module.run(params, items, tools)]
    assert outcomes == [
        Outcome(0, rows=[{"title": "Lamp"}]),
        Outcome(1, error="http_4xx", message="the site answered 404"),
    ]
