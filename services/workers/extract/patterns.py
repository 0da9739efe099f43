"""Patterns of customers: RE2, which finds one match in time in proportion to the text, whatever the pattern.

All matches are another matter: `a.*b|a` looks through the rest of the text for each of them.
"""

import time
from functools import lru_cache

import re2

MAX_MEMORY_BYTES = 16 << 20  # of one compiled pattern
MAX_FOUND = 10_000
CPU_SECONDS = 10.0  # of a thread, for all matches of all patterns of a page: good ones take milliseconds


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY_BYTES
    return options


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re2._Regexp:
    """Return a pattern that can run; re2.error for one that cannot be read."""
    return re2.compile(pattern, _options())


def pattern_fault(pattern: str) -> str | None:
    """Say what is wrong with a pattern, or None."""
    try:
        compiled(pattern)
    except re2.error as error:
        what = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else error.args[0]
        return f"{pattern!r} is not a regex of RE2, which has no look-around and no back-references: {what}"
    return None


class TooLong(Exception):
    """The patterns of a page have taken their time."""


class Budget:
    """The time of a processor that the patterns of one page may take, in whatever thread they are looked for."""

    def __init__(self, seconds: float = CPU_SECONDS) -> None:
        self._left = seconds

    def found(self, pattern: str, text: str, most: int = MAX_FOUND) -> list[str]:
        """Return what a pattern matches in a text, place by place, as `found` does; TooLong once the time is over."""
        last = time.thread_time()
        texts: list[str] = []
        for match in compiled(pattern).finditer(text):
            now = time.thread_time()
            self._left, last = self._left - (now - last), now
            if self._left < 0:
                raise TooLong(f"the patterns of this page take more than {CPU_SECONDS:g} s: {pattern!r} was not done")
            texts.append((match.group(1) if match.re.groups else match.group()) or "")
            if len(texts) >= most:
                break
        return texts


def found(pattern: str, text: str) -> list[str]:
    """Return what a pattern matches first in a text, if at all: its first group, or the whole where it has none."""
    match = compiled(pattern).search(text)
    return [(match.group(1) if match.re.groups else match.group()) or ""] if match else []
