"""Whether every guard still stands where guards.toml takes it out: the long run is `python -m tests.mutation`."""

import re
import tomllib
from typing import Any

import pytest

from tests.mutation.__main__ import GUARDS, ROOT, mutated

PAGE = (ROOT / "docs/reliability.md").read_text().partition("## What notices a missing guard")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| `(\S+)` \| (.+?) \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)
EVERY_WAREHOUSE = sorted((ROOT / "tests/conformance").glob("*.py"))  # which the tests of each of them inherit
# What exactness cannot do without: each of these has a guard that is taken out.
NEEDED = {
    "fencing": "services/runtime/transactions.py",
    "the position check of readers": "schemas/strangers.py",
    "an ACK that counts once": "services/ledger/decide_delivery.py",
    "the check of leases": "services/decider/partition.py",
    "waiting for one's own marker": "services/decider/restore.py",
    "generations": "services/writers/postgres/writer.py",
    "the planned range": "projections/clickhouse/sink.py",
}
GUARD_LIST: list[dict[str, Any]] = tomllib.loads(GUARDS.read_text())["guard"]


@pytest.mark.parametrize("guard", GUARD_LIST, ids=lambda guard: guard["name"])
def test_a_guard_stands_where_it_is_taken_out(guard: dict[str, Any]) -> None:
    before = (ROOT / guard["file"]).read_text()
    assert mutated(before, guard) != before


def test_there_are_at_least_twenty_guards() -> None:
    assert len({guard["name"] for guard in GUARD_LIST}) >= 20


@pytest.mark.parametrize(("what", "file"), NEEDED.items(), ids=list(NEEDED))
def test_what_exactness_cannot_do_without_has_a_guard(what: str, file: str) -> None:
    assert [guard for guard in GUARD_LIST if guard["file"] == file], what


def test_the_documentation_has_a_row_for_each_guard_and_each_harness_is_the_one_that_is_run() -> None:
    assert len(ROWS) > 140
    rows = {(file, name): by.strip("`") for file, name, by, _ in ROWS}
    harnesses = {(guard["file"], guard["name"]): guard.get("harness", "the simulation") for guard in GUARD_LIST}
    assert rows.keys() == harnesses.keys()
    assert len(ROWS) == len({name for _, name, _, _ in ROWS})
    assert [guard for guard, by in rows.items() if by not in harnesses[guard].removeprefix("pytest ")] == []


@pytest.mark.parametrize(("harness", "said"), sorted({(by, said) for _, _, by, said in ROWS if by != "the simulation"}))
def test_the_test_that_is_said_to_notice_a_guard_is_there(harness: str, said: str) -> None:
    name = said.strip("`").partition("[")[0]
    place = ROOT / harness.strip("`")
    files = place.rglob("test_*.py") if place.is_dir() else [place, *EVERY_WAREHOUSE]
    assert any(f"def {name}(" in file.read_text() for file in files)
