"""Kinds of walls by vendor, server and language are known for what they are, and good pages on their topics pass."""

import pytest

from services.workers.gate.judge import Page, judge
from tests.unit.gate.appliance_walls import APPLIANCES
from tests.unit.gate.entry_walls import ENTRIES
from tests.unit.gate.error_walls import ERRORS
from tests.unit.gate.gone_walls import GONE
from tests.unit.gate.market_walls import MARKETS
from tests.unit.gate.other_walls import OTHERS
from tests.unit.gate.refusal_walls import REFUSED
from tests.unit.gate.short_good import SHORT
from tests.unit.gate.test_told import AROUND
from tests.unit.gate.tongues import TOLD
from tests.unit.gate.tongues_asked import CONSENT, SIGN_IN
from tests.unit.gate.topics import BANNERS, TOPICS
from tests.unit.gate.vendor_walls import VENDORS

OF_KINDS = (VENDORS, MARKETS, REFUSED, ERRORS, ENTRIES, APPLIANCES, GONE, OTHERS)
MARKED = {name: page for pages in OF_KINDS for name, page in pages.items()}
SAID = {f"{verdict}, {name}": (verdict, *words) for verdict, rows in TOLD.items() for name, *words in rows}


def found(page: str) -> str:
    for place, text in AROUND.items():
        page = page.replace(place, text)
    verdict = judge(Page(200, "text/html; charset=utf-8", page.encode()))
    return verdict.rule if verdict else "good"


def page_of(title: str, body: str) -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"


def test_no_page_is_lost_by_its_name() -> None:
    assert len(MARKED) == sum(map(len, OF_KINDS))
    assert len(SAID) == sum(map(len, TOLD.values()))


@pytest.mark.parametrize("name", MARKED)
def test_a_wall_is_known_by_the_words_and_marks_of_its_machinery(name: str) -> None:
    expected, page = MARKED[name]
    assert found(page) == expected


@pytest.mark.parametrize("name", SAID)
def test_a_wall_is_known_in_its_language(name: str) -> None:
    expected, title, heading, text = SAID[name]
    around = "{nav}" if expected == "soft_404" else ""
    assert found(page_of(title, f"{around}<h1>{heading}</h1><p>{text}</p>")) == expected


@pytest.mark.parametrize(("language", "title", "heading", "text", "yes", "other"), CONSENT)
def test_a_page_that_only_asks_for_consent_is_known_in_its_language(
    language: str, title: str, heading: str, text: str, yes: str, other: str
) -> None:
    form = f'<form method=post action="/x"><button name=a>{yes}</button><button name=b>{other}</button></form>'
    asked = f"<div><h1>{heading}</h1><p>{text}</p>{form}<a href=/privacy>...</a></div>"
    assert found(page_of(title, asked)) == "consent_wall", language
    site = "<h2>Lamps</h2><p>Lamp one, of brass. Lamp two, of glass.</p><h2>Chairs</h2><p>Oak and ash.</p>" * 4
    assert found(page_of("Lamps and chairs", asked + site)) == "good", language


@pytest.mark.parametrize(("language", "name", "button"), SIGN_IN)
def test_a_sign_in_is_known_in_its_language(language: str, name: str, button: str) -> None:
    form = f"<form method=post><input name=u><input type=password name=p><button>{button}</button></form>"
    assert found(page_of(f"{name} - Site", f"{{nav}}<h1>{name}</h1>{form}{{foot}}")) == "login_wall", language


@pytest.mark.parametrize("name", TOPICS)
def test_a_page_on_the_topic_of_walls_passes(name: str) -> None:
    title, heading, text = TOPICS[name]
    said = f"<h1>{heading}</h1><p>{text}</p>"
    assert found(page_of(title, f"{{nav}}{said}{{foot}}")) == "good"
    assert found(page_of(title, f"<a href=/>x</a>{said}")) == "good"


@pytest.mark.parametrize("name", BANNERS)
def test_a_page_with_a_banner_or_the_name_of_an_error_in_it_passes(name: str) -> None:
    assert found(BANNERS[name]) == "good"


@pytest.mark.parametrize("name", SHORT)
def test_a_short_page_passes(name: str) -> None:
    assert found(SHORT[name]) == "good"
