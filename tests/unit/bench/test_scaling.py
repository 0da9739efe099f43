"""docs/scaling.md is what the measured costs give."""

from bench import scaling


def test_the_page_is_current() -> None:
    assert scaling.PAGE.read_text() == scaling.page()
