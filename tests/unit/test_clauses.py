"""What docs/reliability.md says of where each clause is held: such a file, and in it such a test."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| .+ \| `(tests/\S+\.py)` \| `(test_\w+)` \|$", re.MULTILINE)
SECTION = (ROOT / "docs/reliability.md").read_text().partition("## What holds each clause")[2].partition("\n## ")[0]
NAMED = ROW.findall(SECTION)


def test_every_row_names_a_test() -> None:
    rows = [line for line in SECTION.splitlines() if line.startswith("| ")]
    assert len(NAMED) == len(rows) - 1 > 40  # all but its head


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_the_test_that_holds_a_clause_is_there(file: str, test: str) -> None:
    assert re.search(rf"^(async )?def {test}\(", (ROOT / file).read_text(), re.MULTILINE)
