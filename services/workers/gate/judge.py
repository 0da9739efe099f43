"""The verdict on a page: none for one that was asked for, else the wall or error page that came instead."""

import re
from collections.abc import Callable
from fnmatch import fnmatch

from parsel import Selector

from schemas.storable import storable_text
from services.ledger.workflow import GateRules
from services.workers.gate import consent, forms, named, rules
from services.workers.gate.knowledge import Knowledge
from services.workers.gate.reading import COUNTED_CHARS, Reading, reading_of
from services.workers.gate.text import decoded
from services.workers.gate.verdict import Page, Verdict
from services.workers.tags import overlong_tag

__all__ = ["RULES", "Page", "Verdict", "judge", "judge_and_tell"]

WALL_PROSE_CHARS = 6000  # sign-in pages keep the template of their shop around them; what says more is no wall
HTML_TYPES = ("text/html", "application/xhtml+xml")
MARKUP = re.compile(rb"<(?:!doctype html|html|head|body|title|script|div|p|h1|center|meta)[\s>]", re.I)
PACKED = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd")  # gzip, Zstandard: whole or not, nobody unpacked them
KNOWLEDGE = Knowledge()

# In this order: what a page says of itself goes before what it looks like.
RULES: dict[str, rules.Rule] = {
    "challenge": rules.challenge,
    "captcha": rules.spoken("captcha"),
    "login_denied": forms.login_denied,
    "region_said": rules.sentence("block", "region_said"),
    "block": rules.spoken("block"),
    "region": rules.region,
    "not_found_named": named.not_found_named,
    "maintenance": rules.maintenance,
    "soft_404": rules.spoken("soft_404"),
    "captcha_said": rules.sentence("captcha"),
    "maintenance_said": rules.sentence("maintenance"),
    "soft_404_said": rules.sentence("soft_404"),
    "block_said": rules.sentence("block"),
    "soft_404_heading": rules.headed("soft_404"),
    "maintenance_heading": rules.headed("maintenance"),
    "maintenance_topic": rules.maintenance_topic,
    "block_heading": rules.headed("block"),
    "captcha_heading": rules.headed("captcha"),
    "refusal": rules.refusal,
    "widget": rules.widget,
    "case_number": rules.case_number,
    "script": rules.script,
    "login_named": forms.login_named,
    "login_titled": forms.login_titled,
    "login_form": forms.login_form,
    "login_address": forms.login_address,
    "login_demanded": forms.login_demanded,
    "login_said": rules.sentence("login_wall"),
    "consent_form": consent.consent_form,
    "consent_headed": consent.consent_headed,
    "consent_asked": consent.consent_asked,
    "consent_block": consent.consent_block,
    "redirecting": forms.redirecting,
    "needs_script": forms.needs_script,
    "shell": forms.shell,
}


def judge(page: Page, asked: GateRules | None = None, known: Knowledge = KNOWLEDGE) -> Verdict | None:
    """Return the verdict on a page, or None when it may pass; never raises on any bytes."""
    asked = asked or GateRules()
    kind = page.content_type.partition(";")[0].strip().lower()
    if asked.content_types and not any(fnmatch(kind, wanted.lower()) for wanted in asked.content_types):
        return Verdict("wrong_content_type", kind[: rules.EVIDENCE_CHARS] or "none given")
    if not page.body.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe") and "empty_body" not in asked.allow:
        return Verdict("empty_body", f"{len(page.body)} bytes, nothing but space")
    if kind not in HTML_TYPES and not (kind in ("", "text/plain") and MARKUP.search(page.body[:1024])):
        return None
    if page.body.startswith(PACKED) and "wrong_content_type" not in asked.allow:
        return Verdict("wrong_content_type", "compressed bytes under the name of a page")
    read = decoded(page.body, page.content_type)
    text = read.text
    if text.lstrip()[:1] in ("{", "["):
        return None  # data under a wrong name
    markup = page.body if read.is_utf8 else text.encode("utf-8", "replace")
    markup = markup[: overlong_tag(markup)]
    reading = reading_of(markup, max(COUNTED_CHARS, asked.min_text_chars))
    verdict = recognised(reading, page, asked, known)
    if verdict:
        return verdict
    if asked.required_selector and not _finds(markup, asked.required_selector):
        return Verdict("required_selector", asked.required_selector[: rules.EVIDENCE_CHARS])
    if reading.text_chars < asked.min_text_chars:
        return Verdict("too_short", f"{reading.text_chars} of {asked.min_text_chars} visible characters")
    return None


def judge_and_tell(page: Page, asked: GateRules, tell: Callable[[str], None]) -> Verdict | None:
    """Return the verdict on a page, after the one setting that may take long is told by its name."""
    tell("requiredSelector")
    return judge(page, asked)


def recognised(reading: Reading, page: Page, asked: GateRules, known: Knowledge) -> Verdict | None:
    """Return the first verdict that the workflow does not allow."""
    for name, rule in RULES.items() if reading.prose_chars <= WALL_PROSE_CHARS else ():
        verdict = rule(reading, page, known) if name not in known.unused else None
        if verdict and verdict.rule not in asked.allow:
            return verdict
    return None


def _finds(markup: bytes, selector: str) -> bool:
    """Say whether a CSS selector finds anything; by the same library that checked it when the workflow was saved."""
    text = storable_text(markup.decode("utf-8", "replace"))
    return bool(Selector(text=text, type="html").css(selector))
