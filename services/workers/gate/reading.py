"""What a person would see first on a page: its title, headings, words, forms and links, measured once."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import re2
from selectolax.lexbor import LexborHTMLParser, LexborNode

from services.workers.gate.machinery import CONTENT, CONTENT_HINTS

UNSEEN = "script, style, template, svg, select, datalist, object, noscript"
TO_DRAW_ON = "canvas"  # it is counted with what is not seen, and stays
HEADINGS, FRAMES, SAMPLES = ("h1", "h2"), ("frame", "iframe"), ("pre", "samp", "code")
OTHERS = ", ".join((*HEADINGS, *FRAMES, *SAMPLES))  # looked for together: each search goes through the whole page
TITLE_MARKS = re.compile(r"\s+[|–—\-·•›»:~/―]+\s+|[|›»:―]\s*")
ASKING = frozenset(("email", "search", "tel", "number", "date"))
NOT_WRITTEN = frozenset(("hidden", "submit", "button", "image", "checkbox", "radio"))
MAX_HEADINGS = 6
MAX_FORMS = 10
MACHINERY_BYTES = 24 * 1024
DENSE = re.compile("[\u3040-\U0010ffff]+")  # kana, ideographs, hangul
DENSE_WEIGHT = 2.0
PRICE = re2.compile(
    r"(?:[€$£¥₹₽]|\b(?:eur|usd|gbp|chf|rs\.?)) ?[1-9]|[0-9] ?(?:[€£₽]|(?:eur|usd|kr|chf)\b|zł|kč|руб|円|元)"
)
EDGES = re.compile(r"^\W{1,20}|\W{1,20}$")  # icons of fonts and arrows around what a button says
PHRASE_CHARS = 1500  # of visible text in which phrases are looked for
# The work of an HTML5 parser grows with the square of how deep tags are nested, and each paragraph gets a copy of every
# formatting tag that was left open. So a page is read up to this many tags (walls have few), with spans instead of
# formatting where much of it has attributes (of those that are equal three are copied at most) and not closed at once.
MAX_TAGS = 10_000
TAG = re.compile(rb"<[a-z]")
FORMATTING = rb"(?:b|big|em|font|i|nobr|s|small|strike|strong|tt|u)"
FORMATTING_NAMES = ("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
MAX_OPEN = 24
RENAMED = (
    (re.compile(rb"<" + FORMATTING + rb"(?=[\s/>])"), b"<span"),
    (re.compile(rb"</" + FORMATTING + rb"(?=[\s/>])"), b"</span"),
    (re.compile(rb"<code(?=[\s/>])"), b"<samp"),
    (re.compile(rb"</code(?=[\s/>])"), b"</samp"),
)


def _left_open(name: str) -> str:
    """Return the pattern of a tag with attributes that is not closed at once; RE2 cannot look ahead."""
    closing = f"</{name}>"
    others = "|".join(f"{closing[:place]}[^{closing[place]}]" for place in range(len(closing)))
    return rf"<{name}[\s/][^>]*>(?:{others}|$)"


LEFT_OPEN = re2.compile("|".join(map(_left_open, FORMATTING_NAMES)).encode())
# Visible characters are counted up to here; no rule of the gate's own asks for more, and a workflow's may be told.
COUNTED_CHARS = 20_000


@dataclass(frozen=True)
class Reading:
    """Measures of one HTML page, those that few rules ask for when they are; texts are in lower case, single spaces."""

    raw: bytes = field(repr=False)
    lowered: bytes = field(repr=False)  # ASCII letters only; patterns that fold case cost five times as much
    tree: LexborHTMLParser = field(repr=False)  # of what can be seen
    title: str
    text: str  # visible, at most PHRASE_CHARS
    text_chars: int  # visible, all of it
    prose_chars: int  # visible outside links and buttons
    noscript: str
    scripts: int
    links: int
    buttons: int
    drawings: int  # svg and canvas

    @cached_property
    def title_parts(self) -> tuple[str, ...]:
        """The title, then its parts between bars, dashes and colons: "page not found | shop"."""
        parts = [part.strip() for part in TITLE_MARKS.split(self.title)]
        return tuple(dict.fromkeys(part for part in (self.title, *parts) if part))

    @cached_property
    def headings(self) -> tuple[str, ...]:
        """What the first headings say."""
        nodes = [node for tag, node in self._others if tag in HEADINGS]
        return tuple(filter(None, (_plain(node.text()) for node in nodes[:MAX_HEADINGS])))

    @cached_property
    def frames(self) -> int:
        """How many pages stand within this one."""
        return sum(tag in FRAMES for tag, _ in self._others)

    @cached_property
    def samples(self) -> int:
        """How many samples of code there are, which may show what an error page says."""
        return sum(tag in SAMPLES for tag, _ in self._others)

    @cached_property
    def _others(self) -> list[tuple[str | None, LexborNode]]:
        return [(node.tag, node) for node in self.tree.css(OTHERS)]

    @cached_property
    def images(self) -> int:
        """How many images there are."""
        return len(self.tree.tags("img"))

    @cached_property
    def forms(self) -> int:
        """How many forms there are."""
        return len(self.tree.tags("form"))

    @cached_property
    def _fields(self) -> list[str]:
        return [(node.attributes.get("type") or "text").lower() for node in self.tree.tags("input")]

    @cached_property
    def passwords(self) -> int:
        """How many fields ask for a password."""
        return self._fields.count("password")

    @cached_property
    def password_buttons(self) -> tuple[str, ...]:
        """What the buttons of forms say that ask for one password."""
        return _password_buttons(self.tree) if self.passwords else ()

    @cached_property
    def inputs(self) -> int:
        """How many fields can be filled in."""
        written = sum(kind not in NOT_WRITTEN for kind in self._fields)
        return written + len(self.tree.tags("textarea"))

    @cached_property
    def asks_something(self) -> bool:
        """Says whether there is a field for an address, a number or a search."""
        return not ASKING.isdisjoint(self._fields)

    @cached_property
    def head(self) -> bytes:
        """The head of the markup in lower case, where walls show their machinery."""
        return self.lowered[:MACHINERY_BYTES]

    @cached_property
    def has_content_marks(self) -> bool:
        """Says whether the markup declares a product, an article or the like."""
        return any(hint in self.raw for hint in CONTENT_HINTS) and CONTENT.search(self.raw) is not None

    @cached_property
    def prose(self) -> float:
        """The weight of the prose in characters of an alphabet: an ideograph or syllable says more than a letter."""
        dense = 0 if self.text.isascii() else sum(map(len, DENSE.findall(self.text)))
        share = dense / len(self.text) if self.text else 0.0
        return self.prose_chars * (1 + share * (DENSE_WEIGHT - 1))

    @cached_property
    def has_price(self) -> bool:
        """Says whether the visible text names an amount of money."""
        return PRICE.search(self.text) is not None


def reading_of(raw: bytes, counted_chars: int = COUNTED_CHARS) -> Reading:
    """Parse a page in UTF-8 and measure it; visible characters beyond `counted_chars` may stay uncounted."""
    lowered = raw.lower()
    tree = LexborHTMLParser(_harmless(lowered) or b" ")
    title = _plain(node.text()) if (node := tree.css_first("title")) else ""
    unseen = [(node.tag, node) for node in tree.css(f"{UNSEEN}, {TO_DRAW_ON}")]
    tags = [tag for tag, _ in unseen]
    noscript = _plain(" ".join(node.text() for tag, node in unseen if tag == "noscript"))
    for tag, node in unseen:
        if tag != TO_DRAW_ON:
            node.decompose()
    body = tree.body
    seen = _seen(body.text(separator=" "), counted_chars) if body else ""
    links, buttons = tree.tags("a"), tree.tags("button")
    labels = [node.text() for node in (*links, *buttons)]
    linked = len(_spaced(" ".join(labels))) + 1 + sum(not label or label.isspace() for label in labels)
    return Reading(
        raw=raw,
        lowered=lowered,
        tree=tree,
        title=title,
        text=_plain(seen[:PHRASE_CHARS]),
        text_chars=len(seen),
        prose_chars=max(len(seen) - linked, 0),
        noscript=noscript[:PHRASE_CHARS],
        scripts=tags.count("script"),
        links=len(links),
        buttons=len(buttons),
        drawings=tags.count("svg") + tags.count(TO_DRAW_ON),
    )


def _password_buttons(tree: LexborHTMLParser) -> tuple[str, ...]:
    labels: list[str] = []
    for form in tree.tags("form")[:MAX_FORMS]:
        if len(form.css("input[type=password]")) == 1:
            labels += [_plain(node.text()) for node in form.css("button")]
            labels += [_plain(node.attributes.get("value") or "") for node in form.css("input[type=submit]")]
    return tuple(filter(None, (EDGES.sub("", label) for label in labels)))


def _harmless(lowered: bytes) -> bytes:
    """Return markup that parses in bounded time and memory and reads the same; `code` becomes `samp`."""
    if lowered.count(b"<") > MAX_TAGS:
        first_too_many = next(islice(TAG.finditer(lowered), MAX_TAGS, None), None)
        lowered = lowered[: first_too_many.start()] if first_too_many else lowered
    if sum(1 for _ in islice(LEFT_OPEN.finditer(lowered), MAX_OPEN + 1)) > MAX_OPEN:
        for tag, other in RENAMED:
            lowered = tag.sub(other, lowered)
    return lowered


def _seen(text: str, enough: int) -> str:
    """Return a text with single spaces, or a part of it that has enough characters."""
    size = max(2 * enough, PHRASE_CHARS)
    seen = _spaced(text[:size])
    return seen if len(text) <= size or len(seen) >= enough else _spaced(text)


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    return _spaced(text).lower().replace("’", "'").replace("i̇", "i")
