"""What the gate knows of walls and error pages: phrases by verdict, marks of machinery, and which rules it applies."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

import re2

from services.workers.gate import asks, machinery, phrases, refusals, sentences

SENTENCE_CHARS = 110  # what is said of what stands close together
MAX_TRIES = 8


def _quiet() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    return options


class Phrases:
    """Texts that are looked for together: one pass over a text, however many there are."""

    def __init__(self, texts: Collection[str]) -> None:
        self.texts = tuple(texts)
        self._any = re2.compile("|".join(map(re2.escape, self.texts))) if self.texts else None

    def place(self, text: str) -> int:
        """Return where the first of the phrases stands in a text, or -1."""
        found = self._any.search(text) if self._any else None
        return found.start() if found else -1

    def within(self, text: str) -> Iterator[str]:
        """Yield the phrases that a text contains, in the order of the table."""
        return (phrase for phrase in self.texts if phrase in text) if self.place(text) >= 0 else iter(())

    def without(self, dropped: Collection[str]) -> "Phrases":
        """Return these phrases but for some."""
        return Phrases([text for text in self.texts if text not in dropped])


class Marks:
    """Bytes that are looked for together."""

    def __init__(self, marks: Collection[bytes]) -> None:
        self.marks = tuple(marks)
        self.names = frozenset(mark.decode() for mark in self.marks)
        self._any = re2.compile(b"|".join(map(re2.escape, self.marks))) if self.marks else None

    def first(self, markup: bytes) -> str:
        """Return the first of the marks in lower-case markup, or nothing."""
        found = self._any.search(markup) if self._any else None
        return found.group().decode() if found else ""

    def without(self, dropped: Collection[str]) -> "Marks":
        """Return these marks but for some."""
        return Marks([mark for mark in self.marks if mark.decode() not in dropped])


class Sentences:
    """Patterns of sentences by language, looked for together."""

    def __init__(self, patterns: Mapping[str, str]) -> None:
        self.patterns = dict(patterns)
        written = "|".join(self.patterns.values()).replace("~", sentences.WITHIN)
        self._any = re2.compile(written, _quiet()) if written else None

    def first(self, text: str) -> str:
        """Return the first words that are such a sentence, or nothing."""
        place = 0
        for _ in range(MAX_TRIES if self._any else 0):
            found = self._any.search(text, place)  # type: ignore[union-attr]
            if not found:
                break
            if len(found.group()) <= SENTENCE_CHARS:
                return str(found.group())
            place = found.start() + 1
        return ""

    def languages_in(self, text: str) -> list[str]:
        """Return the languages whose pattern alone finds something."""
        return [name for name, pattern in self.patterns.items() if Sentences({name: pattern}).first(text)]

    def without(self, dropped: Collection[str]) -> "Sentences":
        """Return these patterns but for those of some languages."""
        return Sentences({name: pattern for name, pattern in self.patterns.items() if name not in dropped})


Table = Phrases | Marks | Sentences


@dataclass(frozen=True)
class Knowledge:
    """The tables that rules go by; `without` drops entries, to see what the others are worth."""

    captcha: Phrases = field(default_factory=lambda: Phrases(phrases.CAPTCHA))
    block: Phrases = field(default_factory=lambda: Phrases(phrases.BLOCK))
    maintenance: Phrases = field(default_factory=lambda: Phrases(phrases.MAINTENANCE))
    soft_404: Phrases = field(default_factory=lambda: Phrases(phrases.SOFT_404))
    captcha_heading: Phrases = field(default_factory=lambda: Phrases(phrases.HEADING_ONLY["captcha"]))
    block_heading: Phrases = field(default_factory=lambda: Phrases(phrases.HEADING_ONLY["block"]))
    maintenance_topic: Phrases = field(default_factory=lambda: Phrases(phrases.MAINTENANCE_TOPIC))
    maintenance_heading: Phrases = field(default_factory=lambda: Phrases(phrases.HEADING_ONLY["maintenance"]))
    soft_404_heading: Phrases = field(default_factory=lambda: Phrases(phrases.HEADING_ONLY["soft_404"]))
    login: Phrases = field(default_factory=lambda: Phrases(asks.LOGIN))
    login_demands: Phrases = field(default_factory=lambda: Phrases(asks.LOGIN_DEMANDS))
    sign_up: Phrases = field(default_factory=lambda: Phrases(asks.SIGN_UP))
    consent_headings: Phrases = field(default_factory=lambda: Phrases(asks.CONSENT_HEADINGS))
    consent_words: Phrases = field(default_factory=lambda: Phrases(asks.CONSENT_WORDS))
    consent_labels: Phrases = field(default_factory=lambda: Phrases(asks.CONSENT_LABELS))
    status_page: Phrases = field(default_factory=lambda: Phrases(phrases.STATUS_PAGE))
    redirecting: Phrases = field(default_factory=lambda: Phrases(phrases.REDIRECTING))
    needs_script: Phrases = field(default_factory=lambda: Phrases(phrases.NEEDS_SCRIPT))
    soft_404_said: Sentences = field(default_factory=lambda: Sentences(sentences.SOFT_404))
    maintenance_said: Sentences = field(default_factory=lambda: Sentences(sentences.MAINTENANCE))
    captcha_said: Sentences = field(default_factory=lambda: Sentences(refusals.CAPTCHA))
    block_said: Sentences = field(default_factory=lambda: Sentences(refusals.BLOCK))
    region_said: Sentences = field(default_factory=lambda: Sentences(refusals.REGION))
    consent_answers: Phrases = field(default_factory=lambda: Phrases(asks.CONSENT_ANSWERS))
    login_wall_said: Sentences = field(default_factory=lambda: Sentences(refusals.LOGIN_WALL))
    challenge: Marks = field(default_factory=lambda: Marks(machinery.CHALLENGE))
    refusal: Marks = field(default_factory=lambda: Marks(machinery.REFUSAL))
    templates: Marks = field(default_factory=lambda: Marks(machinery.TEMPLATES))
    template_styles: Marks = field(default_factory=lambda: Marks(machinery.TEMPLATE_STYLES))
    rendered_404: Marks = field(default_factory=lambda: Marks(machinery.RENDERED_404))
    widgets: Marks = field(default_factory=lambda: Marks(machinery.WIDGETS))
    unused: frozenset[str] = frozenset()  # names of rules that are left out

    def tables(self) -> dict[str, Table]:
        """Return every table by its name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "unused"}

    def without(self, dropped: Mapping[str, Collection[str]], rules: Collection[str] = ()) -> "Knowledge":
        """Return this knowledge but for some entries of its tables and some rules."""
        kept = {name: table.without(dropped.get(name, ())) for name, table in self.tables().items()}
        return replace(self, **kept, unused=self.unused | frozenset(rules))  # type: ignore[arg-type]
