"""What a person would see first on a page: its title, headings, words, forms and links, measured once."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from selectolax.lexbor import LexborHTMLParser

from services.workers.gate.machinery import CONTENT, CONTENT_HINTS, WIDGETS

UNSEEN = ["script", "style", "template", "svg", "select", "datalist", "object"]
TITLE_MARKS = re.compile(r"\s+[|–—\-·•›»:~/―]+\s+|[|›»:―]\s*")
MAX_HEADINGS = 6
MACHINERY_BYTES = 24 * 1024
FIRST_DENSE = "\u3040"  # kana, ideographs, hangul
DENSE_WEIGHT = 2.0
PHRASE_CHARS = 1500  # of visible text in which phrases are looked for
# The work of an HTML5 parser grows with the square of how deep tags are nested, and each paragraph gets a copy of every
# formatting tag that was left open. So a page is read up to this many tags (walls have few), with spans for formatting.
MAX_TAGS = 10_000
TAG = re.compile("<[a-z]", re.I)
FORMATTING = re.compile(r"(</?)(?:b|big|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])", re.I)
CODE = re.compile(r"(</?)code(?=[\s/>])", re.I)


@dataclass(frozen=True)
class Reading:
    """Measures of one HTML page; texts are in lower case with single spaces."""

    raw: bytes = field(repr=False)
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
    inputs: int
    frames: int
    samples: int  # of code, which may show what an error page says

    @cached_property
    def lowered(self) -> bytes:
        """The head of the markup in lower case, where walls show their machinery."""
        return self.raw[:MACHINERY_BYTES].lower()

    @cached_property
    def has_content_marks(self) -> bool:
        """Says whether the markup declares a product, an article or the like."""
        return any(hint in self.raw for hint in CONTENT_HINTS) and CONTENT.search(self.raw) is not None

    @cached_property
    def prose(self) -> float:
        """The weight of the prose in characters of an alphabet: an ideograph or syllable says more than a letter."""
        dense = sum(character >= FIRST_DENSE for character in self.text)
        share = dense / len(self.text) if self.text else 0.0
        return self.prose_chars * (1 + share * (DENSE_WEIGHT - 1))

    @cached_property
    def widget(self) -> str:
        """The first CAPTCHA widget in the markup, or nothing."""
        return next((mark.decode() for mark in WIDGETS if mark in self.lowered), "")


def reading_of(text: str) -> Reading:
    """Parse a page and take its measures."""
    tree = LexborHTMLParser(_harmless(text) or " ")
    title = _plain(node.text()) if (node := tree.css_first("title")) else ""
    scripts = len(tree.tags("script"))
    noscript = _plain(" ".join(node.text() for node in tree.tags("noscript")))
    drawings = len(tree.tags("svg")) + len(tree.tags("canvas"))
    tree.strip_tags([*UNSEEN, "noscript"])
    body = tree.body
    seen = _spaced(body.text(separator=" ")) if body else ""
    links = tree.tags("a")
    linked = sum(len(_spaced(node.text())) + 1 for node in (*links, *tree.tags("button")))
    inputs = [(node.attributes.get("type") or "text").lower() for node in tree.tags("input")]
    return Reading(
        raw=text.encode("utf-8", "replace"),
        title_parts=_parts(title),
        headings=tuple(filter(None, (_plain(node.text()) for node in tree.css("h1, h2")[:MAX_HEADINGS]))),
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
        inputs=sum(kind not in ("hidden", "submit", "button", "image", "checkbox", "radio") for kind in inputs)
        + len(tree.tags("textarea")),
        frames=len(tree.tags("frame")) + len(tree.tags("iframe")),
        samples=len(tree.tags("pre")) + len(tree.tags("samp")),
    )


def _harmless(text: str) -> str:
    """Return markup that parses in bounded time and memory and reads the same; `code` becomes `samp`."""
    if text.count("<") > MAX_TAGS:
        first_too_many = next(islice(TAG.finditer(text), MAX_TAGS, None), None)
        text = text[: first_too_many.start()] if first_too_many else text
    return CODE.sub(r"\1samp", FORMATTING.sub(r"\1span", text))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    return _spaced(text).lower().replace("’", "'").replace("i̇", "i")


def _parts(title: str) -> tuple[str, ...]:
    """Return a title, then its parts between bars, dashes and colons: "page not found | shop"."""
    parts = [part.strip() for part in TITLE_MARKS.split(title)]
    return tuple(dict.fromkeys(part for part in (title, *parts) if part))
