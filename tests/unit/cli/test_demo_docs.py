"""The generated parts of docs/demo.md."""

import pytest

from services.cli.demo_docs import kind_lines, option_lines, renewed, with_part
from services.cli.demo_kinds import PAGE_KINDS
from services.cli.docs_pages import DEMO_PAGE


def test_the_page_is_as_the_code_has_it() -> None:
    assert renewed(DEMO_PAGE.read_text()) == DEMO_PAGE.read_text()


def test_a_table_that_was_changed_by_hand_is_put_right() -> None:
    text = DEMO_PAGE.read_text()
    changed = text.replace("`redirect_loop`", "`timeout`")
    assert changed != text
    assert renewed(changed) == text


def test_every_kind_has_one_row_with_its_end_and_its_error() -> None:
    rows = list(kind_lines())[2:]
    assert len(rows) == len(PAGE_KINDS)
    for row, kind in zip(rows, PAGE_KINDS, strict=True):
        cells = [cell.strip().strip("`") for cell in row.strip("|").split("|")]
        assert cells[0] == kind.name
        assert cells[4:7] == [kind.state, kind.error_type, kind.cause]


def test_every_option_has_a_row() -> None:
    named = [row.split("|")[1].strip() for row in list(option_lines())[2:]]
    assert named == ["`--jobs`", "`--urls`", "`--deadline`", "`--picture`", "`--stop`", "`--json`"]


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="page kinds"):
        with_part("no marks here", "page kinds", [])
