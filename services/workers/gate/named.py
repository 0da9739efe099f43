"""The rule for error pages that say so in no language: by the number 404, or by the name of their template."""

import re

from services.workers.gate.knowledge import Knowledge
from services.workers.gate.reading import Reading
from services.workers.gate.rules import EVIDENCE_CHARS, HEADING_PROSE_CHARS, MESSAGE_PROSE_CHARS, TITLE_PROSE_CHARS
from services.workers.gate.verdict import Page, Verdict

NOT_FOUND_CODE = re.compile(
    r"(?:(?:http|error|fehler|erreur|errore|ошибка|код)\W*)*404(?:\W+(?:error|not found|fehler|страница.*))?\W*"
)
# The same in the text of a page: "error code: 404", in whatever language; or an element of its own.
SAID_CODE = re.compile(r"(?:[:：]|\bstatus ?=) ?404(?:$|[^\w.,-])")
# What frameworks say of a route that they do not have, and nothing else.
NO_ROUTE = re.compile(r"cannot get /\S{0,200}")
SOME_CODE = re.compile(r"\b404\b")
LONE_CODE = re.compile(rb">\s{0,20}404\s{0,20}<")
LONE_NUMBER = re.compile(rb">\s{0,20}([0-9][0-9.,]{0,8})\s{0,20}<")
CODE_PROSE_CHARS = 400
MAX_NUMBERS = 2
BARE_CODE = re.compile(r"\W*404\W*")
STYLESHEET = re.compile(rb"<link\b[^>]{0,400}?\bhref=[\"']?([^\"'>\s]{1,300})")
OTHER_CODE = re.compile(r"\b(?:40[0-3]|429|50[0-4])\b")
SERVER_ERROR = (b'"statuscode":5', b"statuscode:5")


def not_found_named(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find the number 404 or the template of error pages; the bare number may name a product, so only without one."""
    if reading.prose > TITLE_PROSE_CHARS:
        return None
    for place in (*reading.title_parts, *(reading.headings if reading.prose <= HEADING_PROSE_CHARS else ())):
        if NOT_FOUND_CODE.fullmatch(place):
            bare = BARE_CODE.fullmatch(place) and (reading.prose > MESSAGE_PROSE_CHARS or reading.has_price)
            return None if bare or reading.has_content_marks else Verdict("soft_404", place[:EVIDENCE_CHARS])
    if NO_ROUTE.fullmatch(reading.text):
        return Verdict("soft_404", reading.text[:EVIDENCE_CHARS])
    return _lone_code(reading) or _template(reading, known)


def _lone_code(reading: Reading) -> Verdict | None:
    """Find the number on its own, in an element or behind a colon, on a page that says little and counts nothing."""
    if reading.prose > CODE_PROSE_CHARS or reading.has_price or reading.has_content_marks:
        return None
    found = SAID_CODE.search(reading.text)
    if not found and b"404" in reading.lowered and LONE_CODE.search(reading.lowered):
        numbers = set(LONE_NUMBER.findall(reading.lowered))
        found = SOME_CODE.search(reading.text) if len(numbers) <= MAX_NUMBERS else None
    return Verdict("soft_404", reading.text[max(found.start() - 40, 0) :][:EVIDENCE_CHARS].strip()) if found else None


def _template(reading: Reading, known: Knowledge) -> Verdict | None:
    """Find the name of a template of error pages: of the page itself, of its styles, or of what was rendered."""
    named = next((name for name in _names(reading) if name in known.templates.names), "")
    if not named and reading.prose <= MESSAGE_PROSE_CHARS:
        styles = b" ".join(STYLESHEET.findall(reading.head))
        named = known.template_styles.first(styles) or known.rendered_404.first(reading.lowered)
    if not named or reading.has_price or reading.has_content_marks:
        return None
    if any(mark in reading.lowered for mark in SERVER_ERROR) or _says_another(named, reading, known):
        return None
    return Verdict("soft_404", f"the template of error pages: {named}")


def _says_another(named: str, reading: Reading, known: Knowledge) -> bool:
    """Say whether a template of any error is used for another one than 404."""
    if "404" in named or "found" in named or "route" in named:
        return False
    tables = (known.maintenance, known.maintenance_heading)
    said = any(table.place(reading.text) >= 0 for table in tables) or OTHER_CODE.search(reading.text)
    return bool(said or known.maintenance_said.first(reading.text) or known.block_said.first(reading.text))


def _names(reading: Reading) -> list[str]:
    """Return the ids and classes of the page as a whole."""
    names: list[str] = []
    for node in (reading.tree.root, reading.tree.body, *reading.tree.tags("main")[:1]):
        if node is not None:
            names += f"{node.attributes.get('id') or ''} {node.attributes.get('class') or ''}".split()
    return names
