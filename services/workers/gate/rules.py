"""The rules of the gate: each looks for one kind of wall or error page, and says so with evidence, or nothing.

A phrase counts by where it stands. As nearly the whole of a title or heading it speaks for the page, unless much
prose follows; in running text it counts only on a page that says little else and declares no product or article.
"""

import re
from collections.abc import Callable

from services.workers.gate import machinery, phrases
from services.workers.gate.knowledge import Knowledge, Phrases, Sentences
from services.workers.gate.reading import Reading
from services.workers.gate.verdict import Page, Verdict

TITLE_PROSE_CHARS = 3000  # with more prose, a title is a headline
HEADING_PROSE_CHARS = 2000
WALL_TITLE_PROSE_CHARS, WALL_HEADING_PROSE_CHARS = 1500, 1200  # the same of what stands without the site around it
MESSAGE_PROSE_CHARS = 900  # a page that says little else
WALL_PROSE_CHARS = 1500  # of a challenge that explains itself
FORM_PROSE_CHARS = 250  # nothing but a form
SHELL_PROSE_CHARS = 60
SCRIPT_TEXT_CHARS = 200
MAX_CHALLENGE_BYTES = 64 * 1024
DOMINANT = 0.4  # share of a title part or heading that a phrase has to be
DOMINANT_OVER_PROSE = 0.75  # the same where more than a message follows
DOMINANT_WORD = {
    "maintenance": 0.6,
    "block": 0.6,
    "captcha": 0.6,
}  # of words that headings of good pages are made of too
TOPIC = 0.8
MAX_TOPIC_LINKS = 5
REGION_CHARS = 400
MAX_WALL_LINKS = 15
MAX_MESSAGE_LINKS = 30  # with more, words of a menu may meet and look like a sentence
MAX_BARE_LINKS = 15  # with more, a page has the menu of its site, and walls stand without it
WITHIN_THE_SITE = ("soft_404", "login_wall")  # the others come instead of the site, menu and all
QUESTION = re.compile(
    r"(?:how|what|why|when|which|where|wie|was|warum|wann|wo|comment|pourquoi|que|qu'est|cómo|qué|por qué|como|o que"
    r"|por que|perché|come|cosa|hoe|waarom|wat|как|почему|что|чому|як|jak|dlaczego|co|hur|varför|hvordan|hvorfor|miten"
    r"|miksi|nasıl|neden)\b.*\?$|(?:如何|怎么|为什么|なぜ|どう|어떻게|왜)"
)
STATUS_CODE = re.compile(r"\b(?:401|403|404|410|429|500|502|503)\b")
MANY_CODES = 3  # a list of what servers may say
NO_QUESTIONS = ("soft_404", "maintenance")
CONDITION = re.compile(r"(?:\b(?:if|when|once|falls|wenn)(?: (?:your|the|ihre?|der))?|если|когда|如果|若) ?$")
SENTENCE_END = re.compile(r"[.!?]")
MAX_QUESTIONS = 2  # headings beside each other; more are a list of questions and answers
EVIDENCE_CHARS = 160

SOMEWHERE = (
    r"(?:(?:your|this|certain|some|these) (?:country|countries|region|regions|area|areas|location|territory|market)"
    rf"|(?:the )?(?:{'|'.join(phrases.COUNTRIES)})\b)"
)
ONLY_IN = re.compile(
    rf"\b(?:only|solely|exclusively|currently|not|n't|un) ?(?:currently )?(?:available|accessible|offered|supported)\b"
    rf"[^.!?]{{0,80}}\b(?:in|within|from|of|to|outside) {SOMEWHERE}"
)
# What an edge gives a person to quote: "support id: 1036608663", "reference #18.2d351ab8.1698".
CASE_NUMBER = re.compile(
    r"\b(?:incident|support|reference|ray|request|event|case|transaction|block|trace)[ -]?(?:id|number|no\.?|code|#)?"
    r"(?: is)?[ :#<]{1,4}(?=[a-z]{0,8}[0-9])[0-9a-z][0-9a-z.\-]{7,}"
)
Rule = Callable[[Reading, Page, Knowledge], Verdict | None]


def spoken(name: str) -> Rule:
    """Make the rule of a verdict that pages of its kind speak out."""

    def rule(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
        table: Phrases = getattr(known, name)
        return announced(name, table, reading) or said(name, table, reading)

    return rule


def sentence(name: str, table_name: str = "") -> Rule:
    """Make the rule of a verdict that a sentence speaks out, on a page that says little else."""

    def rule(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
        if reading.prose > MESSAGE_PROSE_CHARS or reading.samples or reading.has_content_marks or reading.has_price:
            return None
        if name == "maintenance" and known.status_page.place(reading.text) >= 0:
            return None
        table: Sentences = getattr(known, table_name or f"{name}_said")
        places = [one for one in (*reading.title_parts, *reading.headings) if _states(one, name, reading)]
        if reading.links <= (MAX_MESSAGE_LINKS if _stands_within(name, reading) else MAX_BARE_LINKS):
            places.append(reading.text)
        for place in places:
            found = table.first(place)
            start = place.find(found)
            if found and not _asked(place, start + len(found), name) and not CONDITION.search(place[:start][-12:]):
                return Verdict(name, found[:EVIDENCE_CHARS])
        return None

    return rule


def maintenance(reading: Reading, page: Page, known: Knowledge) -> Verdict | None:
    """Find a site that says it is down; a page that reports on the state of services is not."""
    return None if known.status_page.place(reading.text) >= 0 else _SPEAKS_OF_MAINTENANCE(reading, page, known)


_SPEAKS_OF_MAINTENANCE = spoken("maintenance")


def maintenance_topic(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a page with hardly a word whose title is the mere word for maintenance; firms that offer it say more."""
    if reading.prose > FORM_PROSE_CHARS or reading.links > MAX_TOPIC_LINKS or reading.samples or reading.has_price:
        return None
    for part in reading.title_parts:
        if any(len(phrase) >= TOPIC * len(part) for phrase in known.maintenance_topic.within(part)):
            return None if reading.has_content_marks else Verdict("maintenance", part[:EVIDENCE_CHARS])
    return None


def headed(name: str) -> Rule:
    """Make the rule of words that mean a verdict only where they are the title or heading of a short page."""

    def rule(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
        if reading.prose > MESSAGE_PROSE_CHARS or reading.samples or (name == "maintenance" and reading.has_price):
            return None
        if name == "captcha" and not reading.scripts + reading.forms + reading.frames:
            return None  # a challenge does something
        return announced(name, getattr(known, f"{name}_heading"), reading, DOMINANT_WORD.get(name, DOMINANT))

    return rule


def announced(name: str, table: Phrases, reading: Reading, dominant: float = DOMINANT) -> Verdict | None:
    """Find a phrase that a title part or a heading consists of."""
    within = name in WITHIN_THE_SITE
    if reading.prose > (TITLE_PROSE_CHARS if within else WALL_TITLE_PROSE_CHARS):
        return None
    few = reading.prose <= (HEADING_PROSE_CHARS if within else WALL_HEADING_PROSE_CHARS)
    places = (*reading.title_parts, *(reading.headings if few else ()))
    share = dominant if reading.prose <= MESSAGE_PROSE_CHARS else DOMINANT_OVER_PROSE
    for place in places:
        if not _states(place, name, reading):
            continue
        for phrase in table.within(place):
            if len(phrase) >= share * len(place) and _whole(phrase, place):
                content = reading.prose > MESSAGE_PROSE_CHARS and reading.has_content_marks
                return None if content else Verdict(name, place[:EVIDENCE_CHARS])
    return None


def _stands_within(name: str, reading: Reading) -> bool:
    """Say whether the menu of a site may stand around it; who is asked to sign in there is asked by a form."""
    return name in WITHIN_THE_SITE and (name != "login_wall" or reading.passwords > 0)


def _states(place: str, name: str, reading: Reading) -> bool:
    """Say whether a title or heading may speak for its page: no question among many, no beginning of a headline."""
    asked = place.endswith("?") and name != "captcha"
    if asked and (len(reading.headings) > MAX_QUESTIONS or QUESTION.match(place)):
        return False
    title = next(iter(reading.title_parts), "")
    return reading.prose <= MESSAGE_PROSE_CHARS or not title.startswith(f"{place}:")


def _asked(text: str, place: int, name: str) -> bool:
    """Say whether a sentence is the question of somebody who wants to know what to do then."""
    end = SENTENCE_END.search(text, place) if name in NO_QUESTIONS else None
    return end is not None and end.group() == "?"


def _whole(phrase: str, place: str) -> bool:
    """Say whether a phrase stands on its own: "oops" does not in "loops", nor "429" in "e0429"."""
    start = place.find(phrase)
    following = place[start + len(phrase) :][:1]
    return not phrase.isascii() or not (place[:start][-1:].isalnum() or (phrase.isdigit() and following.isalnum()))


def said(name: str, table: Phrases, reading: Reading) -> Verdict | None:
    """Find a phrase in the text of a page that says little else."""
    if reading.prose > MESSAGE_PROSE_CHARS or reading.samples:
        return None
    bare = _stands_within(name, reading) or reading.links <= MAX_BARE_LINKS
    texts = (reading.text,) if bare and len(set(STATUS_CODE.findall(reading.text))) < MANY_CODES else ()
    for text in (*texts, *reading.headings, reading.noscript if reading.text_chars < SHELL_PROSE_CHARS else ""):
        place = table.place(text)
        if place >= 0:
            if _asked(text, place, name):
                continue
            evidence = text[max(place - 40, 0) :][:EVIDENCE_CHARS].strip()
            return None if reading.has_content_marks else Verdict(name, evidence)
    return None


def challenge(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find the machinery of a challenge on a page that has little to say."""
    if reading.prose_chars > WALL_PROSE_CHARS:
        return None
    mark = known.challenge.first(reading.head)
    return Verdict("captcha", mark) if mark and not reading.has_content_marks else None


def refusal(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find the refusal of a vendor's edge."""
    if reading.prose_chars > WALL_PROSE_CHARS:
        return None
    mark = known.refusal.first(reading.head)
    return Verdict("block", mark) if mark and not reading.has_content_marks else None


def region(reading: Reading, _page: Page, _known: Knowledge) -> Verdict | None:
    """Find a page that says where else it could be seen, and nothing more."""
    if reading.text_chars > REGION_CHARS or reading.links > 8 or reading.has_content_marks or reading.has_price:
        return None
    return Verdict("block", reading.text[:EVIDENCE_CHARS]) if ONLY_IN.search(reading.text) else None


def case_number(reading: Reading, _page: Page, _known: Knowledge) -> Verdict | None:
    """Find a page without a way on that gives a number to quote: an edge that refuses."""
    if reading.text_chars > REGION_CHARS or reading.links > 2 or reading.forms or reading.has_content_marks:
        return None
    found = CASE_NUMBER.search(reading.text)
    return Verdict("block", found.group()[:EVIDENCE_CHARS]) if found else None


def widget(reading: Reading, _page: Page, known: Knowledge) -> Verdict | None:
    """Find a page whose only purpose is its CAPTCHA."""
    bare = reading.prose_chars <= FORM_PROSE_CHARS and reading.links <= MAX_WALL_LINKS
    if not bare or reading.passwords or reading.inputs > 1 or reading.asks_something:
        return None
    if machinery.INVISIBLE_WIDGET.search(reading.lowered):
        return None
    mark = known.widgets.first(reading.head)
    return Verdict("captcha", mark) if mark and not reading.has_content_marks else None


def script(reading: Reading, _page: Page, _known: Knowledge) -> Verdict | None:
    """Find a page without content whose script tests the browser and comes back with a cookie."""
    if reading.text_chars > SCRIPT_TEXT_CHARS or reading.links > 3 or not reading.scripts or reading.has_content_marks:
        return None
    lowered = reading.lowered
    if machinery.probes_browser(lowered):
        return Verdict("captcha", "the script looks for an automated browser")
    if len(lowered) <= MAX_CHALLENGE_BYTES and b"challenge" in lowered and not machinery.MOUNT.search(lowered):
        return Verdict("captcha", "nothing but a script with a challenge")
    if machinery.EXTERNAL_SCRIPT.search(lowered):
        return None
    if machinery.sets_cookie_and_comes_back(lowered):
        return Verdict("captcha", "the script sets a cookie and loads the page again")
    if machinery.unpacks_itself(reading.raw):
        return Verdict("captcha", "nothing but a script that unpacks itself")
    return None
