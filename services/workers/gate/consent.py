"""The rules of the gate for pages that stand before a site and ask for consent; a banner stands on one."""

import re

from selectolax.lexbor import LexborNode

from services.workers.gate.knowledge import Knowledge
from services.workers.gate.reading import Reading
from services.workers.gate.rules import DOMINANT, EVIDENCE_CHARS, WALL_PROSE_CHARS
from services.workers.gate.verdict import Page, Verdict

MAX_LINKS = 40
MAX_BARE_LINKS = 10
MAX_BARE_IMAGES = 3
LABEL_CHARS = 40  # of a button that answers; what says more is no answer
BLOCK_CHARS = 20  # of the least that explains what is asked
WHOLE = 0.8  # share of what a page says that stands around the answer
MOST = 0.6  # the same where headings speak of consent
CONTROLS = "button, input[type=submit], input[type=button], a[role=button]"
ACTION = re.compile(rb"action=[\"'][^\"']{0,200}consent")
PLAIN_ANSWERS = ("ok", "okay", "yes", "continue")
# Where an application would put itself, and has not yet: what stands beside it is its banner.
EMPTY_MOUNT = re.compile(rb"\bid=[\"']?(?:root|app|__next|__nuxt|main|react|ember)[\"']?[^>]{0,200}>\s{0,50}</")


def consent_form(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a form that records consent, and little else."""
    if reading.links > MAX_LINKS or reading.prose_chars > WALL_PROSE_CHARS or not ACTION.search(reading.lowered):
        return None
    answered = any(_answers(label, known) for _, label in _controls(reading))
    if known.consent_words.place(reading.text) >= 0 or (answered and not reading.inputs):
        return Verdict("consent_wall", "a form that records consent, and little else")
    return None


def consent_headed(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a page that stands before the site and asks for consent; a banner on a page has other headings beside it."""
    if reading.links > MAX_LINKS or not reading.forms + reading.buttons or reading.has_content_marks:
        return None
    if known.consent_words.place(reading.text) < 0:
        return None
    if not any(_answers(label, known) for _, label in _controls(reading)):
        return None
    others = [one for one in reading.headings if known.consent_headings.place(one) < 0]
    first = reading.headings[0] if reading.headings else reading.text[:120]
    headed = not others[1:] and (not others or _share(reading, known) >= MOST)
    for place in (*reading.title_parts, *((first,) if headed else ())):
        for phrase in known.consent_headings.within(place):
            if len(phrase) >= DOMINANT * len(place):
                return Verdict("consent_wall", place[:EVIDENCE_CHARS])
    return None


def consent_asked(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a page that offers to accept or reject and is about nothing else: no heading is of what the site has."""
    if reading.links > MAX_LINKS or reading.prose > WALL_PROSE_CHARS or reading.has_content_marks:
        return None
    if known.consent_answers.place(reading.text) < 0 or known.consent_words.place(reading.text) < 0:
        return None
    bare = reading.links <= MAX_BARE_LINKS and reading.images <= MAX_BARE_IMAGES
    places = (*reading.title_parts, *reading.headings)
    about = [one for one in places if known.consent_headings.place(one) >= 0 or known.consent_words.place(one) >= 0]
    others = sum(one not in about for one in reading.headings)
    if about and others <= (1 if bare else 0) and (not others or _share(reading, known) >= MOST):
        return Verdict("consent_wall", about[0][:EVIDENCE_CHARS])
    return None


def consent_block(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a page all of which is the question and its answers, whatever its headings are."""
    if reading.links > MAX_BARE_LINKS or reading.images > MAX_BARE_IMAGES or reading.prose > WALL_PROSE_CHARS:
        return None
    if reading.inputs or reading.has_content_marks or not _is_about(reading.text, known):
        return None
    if _share(reading, known, unanswered=0.0) < WHOLE or EMPTY_MOUNT.search(reading.lowered):
        return None
    return Verdict("consent_wall", reading.text[:EVIDENCE_CHARS])


def _share(reading: Reading, known: Knowledge, unanswered: float = 1.0) -> float:
    """Return how much of what a page says stands around the first answer to the question of consent."""
    controls = _controls(reading)
    about = known.consent_words if known.consent_words.place(reading.text) >= 0 else known.consent_headings
    several = len(controls) > 1 and known.consent_labels.place(reading.text) >= 0
    for node, label in controls:
        if not (several or _answers(label, known)):
            continue
        around, text = node.parent, ""
        while around is not None and around.tag not in ("html", "body"):
            text = " ".join(around.text(separator=" ").lower().split())
            if len(text) >= BLOCK_CHARS + len(label) and about.place(text) >= 0:
                break
            around = around.parent
        return len(text) / max(reading.text_chars, 1) if text else unanswered
    return unanswered


def _is_about(text: str, known: Knowledge) -> bool:
    return known.consent_words.place(text) >= 0 or known.consent_headings.place(text) >= 0


def _controls(reading: Reading) -> list[tuple[LexborNode, str]]:
    nodes = [(node, node.text() or node.attributes.get("value") or "") for node in reading.tree.css(CONTROLS)]
    return [(node, " ".join(label.lower().split())) for node, label in nodes]


def _answers(label: str, known: Knowledge) -> bool:
    return len(label) <= LABEL_CHARS and (label in PLAIN_ANSWERS or known.consent_labels.place(label) >= 0)
