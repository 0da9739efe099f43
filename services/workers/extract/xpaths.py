"""XPath that customers write: what of it can run, and in how much time.

XPath 1.0 has no look at the clock: predicates within predicates multiply, and nothing stops libxml2 once it works. The
regular expressions of EXSLT, which lxml brings, are Python's: these can take for ever, and hold up the whole process.
"""

import re
from functools import lru_cache
from itertools import accumulate
from typing import Any

from parsel import Selector

MAX_NESTED = 6  # predicates within each other: each looks at every node again
MAX_FOUND = 10_000  # nodes: each is a hundred times as large to us as it is to libxml2
MAX_PARTS = 32  # that concat() puts together: each may be as long as the page
LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'")
INSIDE = re.compile(rf"{LITERAL.pattern}|((?:^|[|(,])\s*)//")
CALLED = re.compile(r"(?<![\w.\-:])((?:[\w.\-]+:)?[\w.\-]+)\s*\(")
OPERATORS = frozenset(("and", "or", "div", "mod"))  # before a parenthesis they look like functions
# As XPath 1.0 has them, with those of parsel and of EXSLT's sets.
FUNCTIONS = """
    last position count id local-name namespace-uri name string concat starts-with contains substring-before
    substring-after substring string-length normalize-space translate boolean not true false lang number sum floor
    ceiling round comment text processing-instruction node has-class
    set:difference set:intersection set:distinct set:has-same-node set:leading set:trailing
"""
KNOWN = OPERATORS.union(FUNCTIONS.split())
_WITHOUT_PATTERNS = {"re": "urn:jobledger:none"}


@lru_cache(maxsize=4096)
def path_fault(path: str) -> str | None:
    """Say why an XPath cannot run whatever the page is, as far as its text tells, or None."""
    plain = LITERAL.sub("''", path)
    if _nested(plain) > MAX_NESTED:
        return f"more than {MAX_NESTED} predicates within each other: write it with fewer"
    for name in CALLED.findall(plain):
        called = name.rpartition("::")[2]
        if called.startswith("re:"):
            return f"there is no {called}(): use selector regex, or the field's pattern"
        if called not in KNOWN:
            return f"there is no function {called}()"
        if called == "concat" and plain.count(",") >= MAX_PARTS:
            return f"concat() of more than {MAX_PARTS} parts: read them as fields of their own"
    return None


def evaluated(scope: Selector, path: str) -> Any:
    """Return what an XPath finds, of nodes one more than MAX_FOUND at most; ValueError where it cannot run."""
    fault = path_fault(path)
    if fault:
        raise ValueError(fault)
    if _closes_no_more_than_it_opens(path):
        try:
            return scope.xpath(f"({path})[position() <= {MAX_FOUND + 1}]", namespaces=_WITHOUT_PATTERNS)
        except ValueError:
            pass  # it finds a text or a number, or cannot run, which is said of it as it was written
    return scope.xpath(path, namespaces=_WITHOUT_PATTERNS)


@lru_cache(maxsize=4096)
def _closes_no_more_than_it_opens(path: str) -> bool:
    """Whether an XPath in parentheses is what it is without: `a) | (b` is none."""
    return min(accumulate((each == "(") - (each == ")") for each in LITERAL.sub("", path)), default=0) >= 0


def inside(path: str) -> str:
    """Return an XPath whose `//x` means x below the item, in each part of a union, and not x of the whole page."""
    return INSIDE.sub(lambda found: f"{found[1]}.//" if found[1] is not None else found[0], path)


def _nested(plain: str) -> int:
    depth = most = 0
    for character in plain:
        depth += (character == "[") - (character == "]")
        most = max(most, depth)
    return most
