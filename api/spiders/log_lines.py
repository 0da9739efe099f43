"""Lines of the log of a spider job: how they read, and which of them are asked for. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from services.workers.spiders.frames import LEVELS

OTHER_NAMES = {"warn": "warning", "fatal": "critical"}
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def rank(level: str) -> int | None:
    """Return the place of a level among all, in upper or lower case; None: there is no such level."""
    name = level.lower()
    name = OTHER_NAMES.get(name, name)
    return LEVELS.index(name) if name in LEVELS else None


def text_of(line: dict[str, Any]) -> str:
    """Return a line as Scrapy would print it."""
    level = str(line.get("level", "info")).upper()
    return f"{line.get('timestamp', '')} [{line.get('logger') or 'spider'}] {level}: {line.get('message', '')}"


def decoded(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return lines of their JSON."""
    return [_decode(line) for line in lines]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which lines: of a level or above, with a text in them in upper or lower case."""

    level: int = 0
    contains: str = ""

    @property
    def everything(self) -> bool:
        """Whether every line is wanted."""
        return not (self.level or self.contains)

    def may_hold(self, levels: Sequence[int] | None) -> bool:
        """Whether lines that are so many of each level may have one; None, or none: they were not counted."""
        return not levels or any(levels[self.level :])

    def of(self, lines: Sequence[dict[str, Any]]) -> list[str]:
        """Return the lines that are wanted, as they read."""
        texts = [text_of(line) for line in lines if self._grave(line)]
        sought = self.contains.casefold()
        return [text for text in texts if sought in text.casefold()] if sought else texts

    def _grave(self, line: dict[str, Any]) -> bool:
        return (rank(str(line.get("level", ""))) or 0) >= self.level
