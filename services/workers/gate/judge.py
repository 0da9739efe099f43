"""The verdict on a page: none for one that was asked for, else the wall or error page that came instead.

A phrase counts by where it stands. As nearly the whole of a title or heading it speaks for the page, unless much
prose follows; in running text it counts only on a page that says little else and declares no product or article.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch

from parsel import Selector

from schemas.storable import storable_text
from services.ledger.workflow import GateRules
from services.workers.gate import machinery, phrases
from services.workers.gate.reading import Reading, reading_of
from services.workers.gate.text import decoded

TITLE_PROSE_CHARS = 3000  # with more prose, a title is a headline
HEADING_PROSE_CHARS = 2000
MESSAGE_PROSE_CHARS = 900  # a page that says little else
LOGIN_PROSE_CHARS = 6000  # sign-in pages keep the template of their shop around them
WALL_PROSE_CHARS = 1500  # of a challenge that explains itself
FORM_PROSE_CHARS = 250  # nothing but a form
SHELL_PROSE_CHARS = 60
DOMINANT = 0.4  # share of a title part or heading that a phrase has to be
DOMINANT_OVER_PROSE = 0.6  # the same where more than a message follows
REGION_CHARS = 400
MAX_WALL_LINKS = 15
EVIDENCE_CHARS = 160

HTML_TYPES = ("text/html", "application/xhtml+xml")
MARKUP = re.compile(rb"<(?:!doctype html|html|head|body|title|script|div|p|h1|center|meta)[\s>]", re.I)
NOT_FOUND_CODE = re.compile(
    r"(?:(?:http|error|fehler|erreur|errore|ошибка|код)\W*)*404(?:\W+(?:error|not found|fehler|страница.*))?\W*"
)
ONLY_IN = re.compile(
    r"\b(?:only|solely|exclusively|currently) (?:available|accessible) "
    r"(?:in|within|to (?:users|residents|visitors|customers) (?:in|of|from)) "
    r"|\b(?:not|un) ?(?:currently )?(?:available|accessible|offered)[^.]{0,30} "
    r"(?:in|from|to) (?:your|this) (?:country|region|area|location|territory)"
)
LOGIN_PATH = re.compile(r"/(?:log-?in|sign-?in|log-?on|sso|auth|authwall|checkpoint|session/new|account/login)\b", re.I)
CONSENT_ACTION = re.compile(rb"action=[\"'][^\"']{0,200}consent", re.I)


@dataclass(frozen=True, slots=True)
class Page:
    """An answer as the provider gave it."""

    status: int
    content_type: str
    body: bytes
    url: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a page is refused: the rule, and the words or marks that gave it away."""

    rule: str
    evidence: str = ""


def judge(page: Page, rules: GateRules | None = None) -> Verdict | None:
    """Return the verdict on a page, or None when it may pass; never raises on any bytes."""
    rules = rules or GateRules()
    verdict = _judge(page, rules)
    return None if verdict and verdict.rule in rules.allow else verdict


def _judge(page: Page, rules: GateRules) -> Verdict | None:
    kind = page.content_type.partition(";")[0].strip().lower()
    if rules.content_types and not any(fnmatch(kind, wanted.lower()) for wanted in rules.content_types):
        return Verdict("wrong_content_type", kind or "none given")
    if not page.body.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        return Verdict("empty_body", f"{len(page.body)} bytes, nothing but space")
    if kind not in HTML_TYPES and not (kind in ("", "text/plain") and MARKUP.search(page.body[:1024])):
        return None
    text = decoded(page.body, page.content_type).text
    if text.lstrip()[:1] in ("{", "["):
        return None  # data under a wrong name
    reading = reading_of(text)
    for rule in _KNOWN if reading.prose_chars <= LOGIN_PROSE_CHARS else ():
        verdict = rule(reading, page)
        if verdict:
            return verdict
    if rules.required_selector and not _finds(text, rules.required_selector):
        return Verdict("required_selector", rules.required_selector)
    if reading.text_chars < rules.min_text_chars:
        return Verdict("too_short", f"{reading.text_chars} visible characters")
    return None


def _finds(text: str, selector: str) -> bool:
    """Say whether a CSS selector finds anything; by the same library that checked it when the workflow was saved."""
    return bool(Selector(text=storable_text(text), type="html").css(selector))


def _spoken(name: str, table: tuple[str, ...]) -> Callable[[Reading, Page], Verdict | None]:
    """Make the rule of a verdict that pages of its kind speak out."""

    def rule(reading: Reading, _page: Page) -> Verdict | None:
        return _announced(name, table, reading) or _said(name, table, reading)

    return rule


def _headed(reading: Reading, _page: Page) -> Verdict | None:
    """Find words that mean a verdict only where they are the title or heading of a short page."""
    if reading.prose <= MESSAGE_PROSE_CHARS:
        for name, table in phrases.HEADING_ONLY.items():
            verdict = _announced(name, table, reading)
            if verdict:
                return verdict
    return None


def _announced(name: str, table: tuple[str, ...], reading: Reading) -> Verdict | None:
    """Find a phrase that a title part or a heading consists of."""
    if reading.prose > TITLE_PROSE_CHARS:
        return None
    places = (*reading.title_parts, *(reading.headings if reading.prose <= HEADING_PROSE_CHARS else ()))
    share = DOMINANT if reading.prose <= MESSAGE_PROSE_CHARS else DOMINANT_OVER_PROSE
    for place in places:
        for phrase in table:
            if phrase in place and len(phrase) >= share * len(place) and _whole(phrase, place):
                content = reading.prose > MESSAGE_PROSE_CHARS and reading.has_content_marks
                return None if content else Verdict(name, place[:EVIDENCE_CHARS])
    return None


def _whole(phrase: str, place: str) -> bool:
    """Say whether a phrase stands on its own: "oops" does not in "loops", nor "429" in "e0429"."""
    start = place.find(phrase)
    following = place[start + len(phrase) :][:1]
    return not phrase.isascii() or not (place[:start][-1:].isalnum() or (phrase.isdigit() and following.isalnum()))


def _said(name: str, table: tuple[str, ...], reading: Reading) -> Verdict | None:
    """Find a phrase in the text of a page that says little else."""
    if reading.prose > MESSAGE_PROSE_CHARS or reading.samples:
        return None
    for text in (reading.text, *reading.headings, reading.noscript if reading.text_chars < SHELL_PROSE_CHARS else ""):
        for phrase in table:
            place = text.find(phrase)
            if place >= 0:
                return (
                    None
                    if reading.has_content_marks
                    else Verdict(name, text[max(place - 40, 0) :][:EVIDENCE_CHARS].strip())
                )
    return None


def _challenge(reading: Reading, _page: Page) -> Verdict | None:
    """Find the machinery of a challenge on a page that has little to say."""
    if reading.prose_chars > WALL_PROSE_CHARS:
        return None
    for mark in machinery.CHALLENGE:
        if mark in reading.lowered and not reading.has_content_marks:
            return Verdict("captcha", mark.decode())
    return None


def _refusal(reading: Reading, _page: Page) -> Verdict | None:
    if reading.prose_chars <= WALL_PROSE_CHARS:
        for mark in machinery.REFUSAL:
            if mark in reading.lowered and not reading.has_content_marks:
                return Verdict("block", mark.decode())
    return None


def _region(reading: Reading, _page: Page) -> Verdict | None:
    """Find a page that says where else it could be seen, and nothing more."""
    match = ONLY_IN.search(reading.text) if reading.text_chars <= REGION_CHARS and reading.links <= 8 else None
    return Verdict("block", reading.text[:EVIDENCE_CHARS]) if match and not reading.has_content_marks else None


def _not_found_code(reading: Reading, _page: Page) -> Verdict | None:
    if reading.prose <= TITLE_PROSE_CHARS:
        for place in (*reading.title_parts, *reading.headings):
            if NOT_FOUND_CODE.fullmatch(place):
                return Verdict("soft_404", place[:EVIDENCE_CHARS])
    return None


def _widget(reading: Reading, _page: Page) -> Verdict | None:
    """Find a page whose only purpose is its CAPTCHA."""
    bare = reading.prose_chars <= FORM_PROSE_CHARS and reading.links <= MAX_WALL_LINKS
    if bare and not reading.passwords and reading.inputs <= 1 and reading.widget and not reading.has_content_marks:
        return Verdict("captcha", reading.widget)
    return None


def _script_challenge(reading: Reading, _page: Page) -> Verdict | None:
    """Find a page without content whose script tests the browser and comes back with a cookie."""
    if reading.text_chars > 200 or reading.links > 3 or not reading.scripts or reading.has_content_marks:
        return None
    raw = reading.raw
    if machinery.PROBES_BROWSER.search(raw):
        return Verdict("captcha", "the script looks for an automated browser")
    if machinery.sets_cookie_and_comes_back(raw) and not machinery.EXTERNAL_SCRIPT.search(raw):
        return Verdict("captcha", "the script sets a cookie and loads the page again")
    if (
        machinery.ENCODED.search(raw)
        and machinery.UNPACKS_ITSELF.search(raw)
        and not machinery.EXTERNAL_SCRIPT.search(raw)
    ):
        return Verdict("captcha", "nothing but a script that unpacks itself")
    return None


def _login(reading: Reading, page: Page) -> Verdict | None:
    names = (*reading.title_parts, *reading.headings[:2])
    named = next((name for name in names if len(name) <= 60 and _opens_login(name)), "")
    if reading.passwords:
        if named and not reading.has_content_marks:
            return Verdict("login_wall", named)
        signs_up = any(phrase in name for name in names for phrase in phrases.SIGN_UP)
        bare = reading.prose_chars <= FORM_PROSE_CHARS and reading.links < 30 and reading.passwords == 1
        if (bare and not signs_up) or (reading.prose_chars <= WALL_PROSE_CHARS and LOGIN_PATH.search(page.url)):
            return Verdict("login_wall", "a password field and little else")
    elif named and reading.prose_chars <= FORM_PROSE_CHARS * 2 and reading.inputs and reading.links < 30:
        return Verdict("login_wall", named)
    return _said("login_wall", phrases.LOGIN_DEMANDS, reading)


def _opens_login(name: str) -> bool:
    return any(
        name.startswith(phrase) or (phrase in name and len(phrase) >= DOMINANT * len(name)) for phrase in phrases.LOGIN
    )


def _consent(reading: Reading, _page: Page) -> Verdict | None:
    """Find a page that stands before the site and asks for consent."""
    if reading.links > 40 or not any(word in reading.text for word in phrases.CONSENT_WORDS):
        return None
    if reading.prose_chars <= WALL_PROSE_CHARS and CONSENT_ACTION.search(reading.raw):
        return Verdict("consent_wall", "a form that records consent, and little else")
    first = reading.headings[0] if reading.headings else reading.text[:120]
    for place in (*reading.title_parts, first) if reading.forms else ():
        for phrase in phrases.CONSENT_HEADINGS:
            if phrase in place and len(phrase) >= DOMINANT * len(place):
                return None if reading.has_content_marks else Verdict("consent_wall", place[:EVIDENCE_CHARS])
    return None


def _shell(reading: Reading, _page: Page) -> Verdict | None:
    """Find a page that scripts would have filled, or that only leads elsewhere."""
    if reading.text_chars > 400 or reading.links > 5 or reading.has_content_marks:
        return None
    elsewhere = machinery.GOES_ELSEWHERE.search(reading.raw)
    speaks = f"{reading.text} {reading.noscript}"
    if reading.text_chars < 200 and reading.forms == 0:
        if elsewhere and any(phrase in speaks for phrase in phrases.REDIRECTING):
            return Verdict("empty_shell", speaks[:EVIDENCE_CHARS].strip())
        if reading.scripts and any(phrase in reading.text for phrase in phrases.NEEDS_SCRIPT):
            return Verdict("empty_shell", reading.text[:EVIDENCE_CHARS])
    if reading.text_chars < SHELL_PROSE_CHARS and reading.inputs == 0 and reading.frames == 0:
        if reading.images <= 1 and (reading.scripts or elsewhere):
            return Verdict("empty_shell", f"{reading.scripts} scripts and {reading.text_chars} visible characters")
        if not reading.text_chars + reading.images + reading.drawings:
            return Verdict("empty_body", "markup without a visible character")
    return None


_KNOWN: tuple[Callable[[Reading, Page], Verdict | None], ...] = (
    _challenge,
    _spoken("captcha", phrases.CAPTCHA),
    _spoken("block", phrases.BLOCK),
    _region,
    _not_found_code,
    _spoken("maintenance", phrases.MAINTENANCE),
    _spoken("soft_404", phrases.SOFT_404),
    _headed,
    _refusal,
    _widget,
    _script_challenge,
    _login,
    _consent,
    _shell,
)
