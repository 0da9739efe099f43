"""The rules of the gate for pages that ask for a sign-in first, or that scripts would have filled."""

import re

from services.workers.gate import machinery
from services.workers.gate.knowledge import Knowledge
from services.workers.gate.reading import MAX_TAGS, Reading
from services.workers.gate.rules import (
    DOMINANT,
    EVIDENCE_CHARS,
    FORM_PROSE_CHARS,
    MAX_BARE_LINKS,
    SCRIPT_TEXT_CHARS,
    SHELL_PROSE_CHARS,
    WALL_PROSE_CHARS,
    said,
)
from services.workers.gate.verdict import Page, Verdict

NAME_CHARS = 60  # of a title or heading that names a form
MAX_FORM_LINKS = 30
SHELL_TEXT_CHARS = 400
MAX_SIGN_IN_LINKS = 12
SIGN_IN_LINK = re.compile(
    rb"(?:href|action)=[\"']?[^\"'>\s]{0,200}\b(?:oauth2?|openid|saml2?|sso|social-login|auth/[a-z]+)\b"
)
MAX_SHELL_LINKS = 5
LOGIN_PATH = re.compile(r"/(?:log-?in|sign-?in|log-?on|sso|auth|authwall|checkpoint|session/new|account/login)\b", re.I)
HEADING = re.compile(rb"<h[12][\s>]")
PASSWORD = re.compile(rb"\btype=[\"']?password\b")
# What servers say of 301, 302 and their like.
MOVED = re.compile(
    r"(?:(?:error )?30[12378]\W{1,3})?(?:(?:object|document) moved(?: to here)?|moved (?:permanently|temporarily)|found"
    r"|see other|(?:temporary|permanent) redirect)\W{0,2}"
)
MAX_MOVED_LINKS = 2
SCRIPT_LACKS = re.compile(
    r"(?:enable|activate|requires?|needs?) javascript|javascript (?:is|must be|required|not|disabled)"
)


def login_named(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a form that is called a sign-in: with a password field, or with some field and little else."""
    little = reading.prose_chars <= FORM_PROSE_CHARS * 2 and reading.links < MAX_FORM_LINKS
    if not (reading.passwords or (little and (reading.inputs or _leads_to_sign_in(reading)))):
        return None
    name = _login_name(reading, known)
    return Verdict("login_wall", name) if name and not (reading.passwords and reading.has_content_marks) else None


def _leads_to_sign_in(reading: Reading) -> bool:
    """Say whether a page of hardly a word leads to somebody who knows the reader."""
    bare = reading.prose_chars <= FORM_PROSE_CHARS and reading.links <= MAX_SIGN_IN_LINKS
    return bare and SIGN_IN_LINK.search(reading.lowered) is not None


def _login_name(reading: Reading, known: Knowledge) -> str:
    for name in (*reading.title_parts, *reading.headings[:2]):
        if len(name) <= NAME_CHARS and any(
            name.startswith(phrase) or len(phrase) >= DOMINANT * len(name) for phrase in known.login.within(name)
        ):
            return name
    return ""


def login_titled(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a page that is called as the button of its password form is, in whatever language."""
    for name in (*reading.title_parts, *reading.headings[:2]) if reading.passwords else ():
        if name in reading.password_buttons and known.sign_up.place(name) < 0 and not reading.has_content_marks:
            return Verdict("login_wall", f"title and button of a password form: {name}")
    return None


def login_form(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a password field and little else, where nobody signs up."""
    bare = reading.prose_chars <= FORM_PROSE_CHARS and reading.links < MAX_FORM_LINKS and reading.passwords == 1
    if not bare or (reading.links > MAX_BARE_LINKS and _is_in_the_header(reading)):
        return None
    names = (*reading.title_parts, *reading.headings[:2])
    if not any(known.sign_up.place(name) >= 0 for name in names):
        return Verdict("login_wall", "a password field and little else")
    return None


def _is_in_the_header(reading: Reading) -> bool:
    """Say whether the field for a password stands before what the page is about."""
    heading, field = HEADING.search(reading.lowered), PASSWORD.search(reading.lowered)
    return heading is not None and field is not None and field.start() < heading.start()


def login_address(reading: Reading, page: Page, _known: Knowledge) -> Verdict | None:
    """Find a password field at an address of sign-ins."""
    if reading.passwords and reading.prose_chars <= WALL_PROSE_CHARS and LOGIN_PATH.search(page.url):
        return Verdict("login_wall", "a password field at an address of sign-ins")
    return None


def login_demanded(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a page that says that one has to sign in."""
    return said("login_wall", known.login_demands, reading)


def login_denied(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a password form that says why it is there, whatever else is denied."""
    if not reading.passwords:
        return None
    return said("login_wall", known.login_demands, reading)


def redirecting(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a page that leads elsewhere and says so."""
    if not _is_hollow(reading, SCRIPT_TEXT_CHARS) or reading.forms:
        return None
    moved = next((one for one in (*reading.title_parts, *reading.headings) if MOVED.fullmatch(one)), "")
    if moved and reading.links <= MAX_MOVED_LINKS:
        return Verdict("empty_shell", moved)
    speaks = f"{reading.text} {reading.noscript}"
    if known.redirecting.place(speaks) >= 0 and machinery.goes_elsewhere(reading.lowered):
        return Verdict("empty_shell", speaks[:EVIDENCE_CHARS].strip())
    return None


def needs_script(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a page that says that it needs scripts."""
    if not reading.scripts:
        return None
    headings = reading.headings if reading.prose <= SHELL_TEXT_CHARS else ()
    headed = next((one for one in headings if len(one) <= NAME_CHARS and SCRIPT_LACKS.search(one)), "")
    if headed:
        return Verdict("empty_shell", headed)
    if not _is_hollow(reading, SCRIPT_TEXT_CHARS) or reading.forms:
        return None
    return (
        Verdict("empty_shell", reading.text[:EVIDENCE_CHARS]) if known.needs_script.place(reading.text) >= 0 else None
    )


def shell(reading: Reading, _page: Page, _known: Knowledge) -> Verdict | None:
    """Find a page with scripts and hardly a character to see."""
    if not _is_hollow(reading, SHELL_PROSE_CHARS) or reading.inputs or reading.frames or reading.headings:
        return None
    if reading.lowered.count(b"<") > MAX_TAGS:
        return None  # read in part: it may say something further on
    if reading.images <= 1 and (reading.scripts or machinery.goes_elsewhere(reading.lowered)):
        return Verdict("empty_shell", f"{reading.scripts} scripts and {reading.text_chars} visible characters")
    if not reading.text_chars + reading.images + reading.drawings:
        return Verdict("empty_body", "markup without a visible character")
    return None


def _is_hollow(reading: Reading, chars: int) -> bool:
    return reading.text_chars < chars and reading.links <= MAX_SHELL_LINKS and not reading.has_content_marks
