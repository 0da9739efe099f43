"""docs/performance.md shows every result file on disk, known or not."""

import json
from pathlib import Path

import pytest

from bench import performance
from bench.tables import tables, text


def numbers(value: object) -> list[float]:
    """Every number of a result file but those of raw rounds and of the machine."""
    if isinstance(value, dict):
        return [found for key, each in value.items() if key not in ("rounds", "machine") for found in numbers(each)]
    if isinstance(value, list):
        return [found for each in value for found in numbers(each)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def test_every_result_file_is_on_the_page() -> None:
    page = performance.page()
    files = sorted(performance.RESULTS.glob("*.json"))
    assert files
    for file in files:
        assert f"\n## {performance.section_of(file.stem).title}\n" in page


@pytest.mark.parametrize(
    "name", [file.stem for file in sorted(performance.RESULTS.glob("*.json")) if file.stem != "peers"]
)
def test_no_figure_of_a_result_file_is_left_out(name: str) -> None:
    figures = json.loads((performance.RESULTS / f"{name}.json").read_bytes())
    shown = "\n".join(tables(figures))
    missing = [number for number in numbers(figures) if text(number) not in shown]
    assert not missing


def test_a_file_that_nobody_described_is_shown_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "new_thing.json").write_text('{"speed": 12.5, "parts": [{"name": "a|b", "cost": 1234}]}')
    (tmp_path / "decider.txt").write_text("the decider\n  12.0 % decide\n")
    page = performance.page(tmp_path)
    assert "## New thing" in page
    assert "| speed | 12.5 |" in page
    assert "| a\\|b | 1,234 |" in page
    assert "## Profile: the decider\n\n```text\n12.0 % decide\n```" in page


def test_a_page_that_is_not_current_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performance, "PAGE", tmp_path / "performance.md")
    assert performance.main([]) == 1
    assert performance.main(["--write"]) == 0
    assert performance.main([]) == 0
