"""Patterns of customers: RE2, which takes time in proportion to the text, whatever the pattern."""

from functools import lru_cache

import re2

MAX_MEMORY_BYTES = 16 << 20  # of one compiled pattern
MAX_FOUND = 10_000


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


def found(pattern: str, text: str, most: int = MAX_FOUND) -> list[str]:
    """Return what a pattern matches in a text, place by place: its first group, or the whole where it has none."""
    texts: list[str] = []
    for match in compiled(pattern).finditer(text):
        texts.append((match.group(1) if match.re.groups else match.group()) or "")
        if len(texts) >= most:
            break
    return texts
