"""No page names a metric, or a label of one, that no process exports."""

import re
from pathlib import Path

import pytest

from tests.unit.deploy.expressions import known

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMED = re.compile(r"\bjobledger_([a-z_]+)(?:\{([^}]*)\})?")
OTHERS = frozenset(  # databases and users of examples
    {"jobledger_v", "jobledger_events_queue", "jobledger_reader", "jobledger_api"}
)


def test_the_form_is_found() -> None:
    assert NAMED.findall("`jobledger_lag{process, partition}` and jobledger_position") == [
        ("lag", "process, partition"),
        ("position", ""),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_metric_of_a_page_is_exported_with_its_labels(page: Path) -> None:
    series = known()
    for name, given in NAMED.findall(page.read_text()):
        told = f"jobledger_{name}"
        if told in OTHERS or told.endswith("_"):
            continue
        fitting = [labels for each, labels in series.items() if each == told or each.startswith(f"{told}_")]
        assert fitting, f"{told} is exported by nobody"
        labels = {label.partition("=")[0].strip(' "') for label in given.split(",") if label}
        assert any(labels <= each for each in fitting), f"{told} has no labels {labels}"
