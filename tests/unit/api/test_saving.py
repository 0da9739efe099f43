"""What checking a workflow document costs those who call meanwhile."""

import threading
from typing import Any

import pytest

from api.errors import Problem
from api.routes import workflows

FIELDS = [{"name": f"f{number}", "query": "h1"} for number in range(3)]
DOCUMENT: dict[str, Any] = {
    "nodes": [
        {"id": "start", "kind": "entry"},
        {"id": "fetch", "kind": "service"},
        {"id": "read", "kind": "extractor", "settings": {"fields": FIELDS}},
        {"id": "store", "kind": "warehouse"},
    ],
    "edges": [
        {"source": "start", "target": "fetch"},
        {"source": "fetch", "target": "read", "on": "success"},
        {"source": "read", "target": "store", "on": "success"},
    ],
}


async def test_selectors_are_checked_beside_the_loop_that_answers_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def check(_kind: str, _query: str) -> str | None:
        threads.append(threading.current_thread())
        return None

    monkeypatch.setattr(workflows, "selector_fault", check)
    assert len((await workflows.checked(DOCUMENT)).nodes) == 4
    assert len(threads) == len(FIELDS)
    assert threading.main_thread() not in threads


async def test_a_document_whose_selectors_take_too_long_to_check_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workflows, "CHECK_CPU_SECONDS", -1.0)
    with pytest.raises(Problem, match="write fewer") as raised:
        await workflows.checked(DOCUMENT)
    assert (raised.value.code, raised.value.body["faults"][0]["code"]) == ("workflow_invalid", "too_large")
