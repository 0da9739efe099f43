"""The verdicts of the gate on synthetic pages, and the rules of a workflow."""

import pytest

from services.ledger.workflow import GateRules
from services.workers.gate.judge import Page, judge
from tests.unit.gate.pages import BAD, GOOD, PROSE


def page_of(text: str, content_type: str = "text/html; charset=utf-8", url: str = "https://shop.example/x") -> Page:
    return Page(200, content_type, text.encode(), url)


def rule_of(page: Page, rules: GateRules | None = None) -> str | None:
    verdict = judge(page, rules)
    return verdict.rule if verdict else None


@pytest.mark.parametrize("name", GOOD)
def test_a_good_page_passes(name: str) -> None:
    assert judge(page_of(GOOD[name])) is None


@pytest.mark.parametrize("name", BAD)
def test_a_bad_page_is_refused_by_its_rule_with_evidence(name: str) -> None:
    rule, text = BAD[name]
    verdict = judge(page_of(text))
    assert verdict is not None
    assert verdict.rule == rule
    assert 0 < len(verdict.evidence) <= 200


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/json", "image/png"])
def test_what_is_not_a_page_passes_whatever_it_says(content_type: str) -> None:
    assert judge(page_of("User-agent: *\nDisallow: /captcha\nDisallow: /access-denied", content_type)) is None


def test_an_empty_body_is_refused_whatever_its_type() -> None:
    assert rule_of(page_of("\n", "application/json")) == "empty_body"


def test_a_page_without_a_content_type_is_still_judged() -> None:
    assert rule_of(page_of(BAD["access denied"][1], "")) == "block"


def test_a_password_field_behind_a_redirect_to_a_login_address_is_a_login_wall() -> None:
    text = f"<html><title>Shop</title><form><input type=password></form>{PROSE}</html>"
    assert rule_of(page_of(text, url="https://shop.example/account/login?next=/x")) == "login_wall"
    assert rule_of(page_of(text, url="https://shop.example/product/1")) is None


def test_a_required_selector_has_to_find_something() -> None:
    rules = GateRules(required_selector=".price")
    assert rule_of(page_of(f"<p class=price>9</p>{PROSE}"), rules) is None
    assert rule_of(page_of(PROSE), rules) == "required_selector"


def test_a_page_with_less_text_than_asked_is_too_short() -> None:
    assert rule_of(page_of(PROSE), GateRules(min_text_chars=5000)) == "too_short"


def test_only_the_content_types_asked_for_pass() -> None:
    rules = GateRules(content_types=("text/html", "image/*"))
    assert rule_of(page_of(PROSE), rules) is None
    assert rule_of(page_of("x", "image/png"), rules) is None
    assert rule_of(page_of("%PDF", "application/pdf"), rules) == "wrong_content_type"


def test_an_allowed_verdict_does_not_refuse() -> None:
    assert rule_of(page_of(BAD["sign-in form"][1]), GateRules(allow=("login_wall",))) is None


def test_after_an_allowed_verdict_the_page_is_judged_on() -> None:
    page = page_of(BAD["sign-in form"][1])
    assert rule_of(page, GateRules(allow=("login_wall",), required_selector=".price")) == "required_selector"
    assert rule_of(page, GateRules(allow=("login_wall",), min_text_chars=100)) == "too_short"


def test_an_allowed_empty_body_passes() -> None:
    assert rule_of(page_of(" "), GateRules(allow=("empty_body",))) is None


def test_more_text_is_counted_where_a_workflow_asks_for_more() -> None:
    long = page_of(f"<p>{'word ' * 20_000}</p>")
    assert rule_of(long, GateRules(min_text_chars=90_000)) is None
    assert rule_of(long, GateRules(min_text_chars=110_000)) == "too_short"


@pytest.mark.parametrize("gap", [" ", "\n" * 500_000])
def test_white_space_is_no_text(gap: str) -> None:
    assert rule_of(page_of(f"<p>a{gap}b</p>"), GateRules(min_text_chars=4)) == "too_short"
