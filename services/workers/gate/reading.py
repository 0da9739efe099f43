"""What a person would see first on a page: its title, headings, words, forms and links, measured once."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import re2
from selectolax.lexbor import LexborHTMLParser, LexborNode

from services.workers.gate.machinery import CONTENT, CONTENT_HINTS

UNSEEN = "script, style, template, svg, select, datalist, object, noscript"
HEADINGS, FRAMES, SAMPLES = ("h1", "h2"), ("frame", "iframe"), ("pre", "samp", "code")
OTHERS = ", ".join((*HEADINGS, *FRAMES, *SAMPLES))  # looked for together: each search goes through the whole page
TITLE_MARKS = re.compile(r"\s+[|–—\-·•›»:~/―]+\s+|[|›»:―]\s*")
ASKING = frozenset(("email", "search", "tel", "number", "date"))
MAX_HEADINGS = 6
MAX_FORMS = 10
MACHINERY_BYTES = 24 * 1024
DENSE = re.compile("[\u3040-\U0010ffff]+")  # kana, ideographs, hangul
DENSE_WEIGHT = 2.0
PRICE = re.compile(
    r"(?:[€$£¥₹₽]|\b(?:eur|usd|gbp|chf|rs\.?)) ?[1-9]|[0-9] ?(?:[€£₽]|(?:eur|usd|zł|kč|руб|kr|chf|円|元)\b)"
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
    """Measures of one HTML page; texts are in lower case with single spaces."""

    raw: bytes = field(repr=False)
    lowered: bytes = field(repr=False)  # ASCII letters only; patterns that fold case cost five times as much
    title_parts: tuple[str, ...]
    headings: tuple[str, ...]
    text: str  # visible, at most PHRASE_CHARS
    text_chars: int  # visible, all of it
    prose_chars: int  # visible outside links and buttons
    noscript: str
    scripts: int
    links: int
    images: int
    drawings: int  # svg and canvas
    forms: int
    passwords: int
    password_buttons: tuple[str, ...]  # what the buttons of forms say that ask for one password
    inputs: int
    asks_something: bool  # a field for an address, a number or a search
    buttons: int
    frames: int
    samples: int  # of code, which may show what an error page says

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


def reading_of(text: str, counted_chars: int = COUNTED_CHARS) -> Reading:
    """Parse a page and take its measures; visible characters beyond `counted_chars` may stay uncounted."""
    raw = text.encode("utf-8", "replace")
    lowered = raw.lower()
    tree = LexborHTMLParser(_harmless(lowered) or b" ")
    title = _plain(node.text()) if (node := tree.css_first("title")) else ""
    scripts = len(tree.tags("script"))
    noscript = _plain(" ".join(node.text() for node in tree.tags("noscript")))
    drawings = len(tree.css("svg, canvas"))
    for node in tree.css(UNSEEN):
        node.decompose()
    body = tree.body
    seen = _seen(body.text(separator=" "), counted_chars) if body else ""
    links = tree.tags("a")
    others = [(node.tag, node) for node in tree.css(OTHERS)]
    buttons = tree.tags("button")
    linked = sum(len(_spaced(node.text())) + 1 for node in (*links, *buttons))
    inputs = [(node.attributes.get("type") or "text").lower() for node in tree.tags("input")]
    return Reading(
        raw=raw,
        lowered=lowered,
        title_parts=_parts(title),
        headings=_headings([node for tag, node in others if tag in HEADINGS]),
        text=_plain(seen[:PHRASE_CHARS]),
        text_chars=len(seen),
        prose_chars=max(len(seen) - linked, 0),
        noscript=noscript[:PHRASE_CHARS],
        scripts=scripts,
        links=len(links),
        images=len(tree.tags("img")),
        drawings=drawings,
        forms=len(tree.tags("form")),
        passwords=inputs.count("password"),
        password_buttons=_password_buttons(tree) if "password" in inputs else (),
        inputs=sum(kind not in ("hidden", "submit", "button", "image", "checkbox", "radio") for kind in inputs)
        + len(tree.tags("textarea")),
        asks_something=not ASKING.isdisjoint(inputs),
        buttons=len(buttons),
        frames=sum(tag in FRAMES for tag, _ in others),
        samples=sum(tag in SAMPLES for tag, _ in others),
    )


def _headings(nodes: list[LexborNode]) -> tuple[str, ...]:
    return tuple(filter(None, (_plain(node.text()) for node in nodes[:MAX_HEADINGS])))


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


def _parts(title: str) -> tuple[str, ...]:
    """Return a title, then its parts between bars, dashes and colons: "page not found | shop"."""
    parts = [part.strip() for part in TITLE_MARKS.split(title)]
    return tuple(dict.fromkeys(part for part in (title, *parts) if part))
