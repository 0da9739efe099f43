"""The documentation check finds what is wrong with the documentation."""

from pathlib import Path

from services.cli.docs_check import page_problems, unnamed_dependencies
from services.cli.docs_pages import MEANINGS, STATE_MACHINE_PAGE, VOCABULARIES_PAGE, state_machine_page
from services.cli.docs_vocabularies import vocabularies_page
from services.ledger.status import TRANSITIONS, Status, diagram


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "there.md").touch()
    text = "[a](there.md) [b](gone.md) [c](https://example.com) [d](#here)"
    assert list(page_problems(tmp_path / "page.md", text)) == ["page.md links to gone.md, which is not there"]


def test_a_path_of_a_machine_is_named(tmp_path: Path) -> None:
    [problem] = page_problems(tmp_path / "page.md", "see /home/notes and api/work/x")
    assert "/home/notes" in problem


def test_a_dependency_without_a_reason_is_named() -> None:
    pyproject = '[project]\ndependencies = ["aiohttp>=3", "orjson"]\n[project.optional-dependencies]\ndev = ["ruff>=1"]'
    problems = list(unnamed_dependencies("| `aiohttp` | `ruff` |", pyproject))
    assert len(problems) == 1
    assert "orjson" in problems[0]


def test_the_page_of_vocabularies_is_made_from_the_tables() -> None:
    assert VOCABULARIES_PAGE.read_text() == vocabularies_page()


def test_the_page_of_states_is_drawn_from_the_table() -> None:
    assert STATE_MACHINE_PAGE.read_text() == state_machine_page()
    assert set(MEANINGS) == set(Status)
    for event, (_, target) in TRANSITIONS.items():
        assert f"--> {target}: {event.__name__}" in diagram()
