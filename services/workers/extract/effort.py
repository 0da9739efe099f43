"""How often selectors of customers may look at a page: what may take long runs where it can be stopped.

An upper bound told from the text alone: the degree is the power of the size of a page with which the time of a selector
may grow. `//a` looks through a page once, `//a[//b]` once for each of its elements; libxml2 looks through what it found
so far for each sibling that it adds, so that `//a/following-sibling::b` grows with the third power.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from cssselect import SelectorError

from services.ledger.workflow import ExtractorSettings, Leaf, Part, SelectorKind
from services.workers.extract.selectors import xpath_of
from services.workers.extract.xpaths import LITERAL

QUICK_LOOKS = 1e8  # at elements, 15 ns each
QUICK_JSON_LOOKS = 1e6  # at values, 10 microseconds each
LOOKS = re.compile(r"(//|descendant[\w-]*::)|(?:following|preceding|ancestor)[\w-]*::")
BRACKETS = re.compile(r"[\[\]]")
LEAVES = re.compile(r"(?:following|preceding|ancestor)[\w-]*::|(?:^|[\[(|,=<>+\s])/(?!/)|[\[=<>+]\s*//")
COMPARED = re.compile(r"[=<>]")
SEVERAL = re.compile(r"\[[^\[\]]*,[^\[\]]*\]")  # `[*, *]` finds everything twice, the next one four times
BEFORE_A_PATH = re.compile(r"(?:^|[(,|=<>+!?&-]|\b(?:and|or|div|mod))\s*[.$@]{0,2}/?$")


def slow_fields(settings: ExtractorSettings, page: bytes) -> list[str]:
    """Return the fields of an extractor whose selectors may take long on a page; "items" for that of the items."""
    return [name for name, kind, power in _powers(settings) if _is_slow(kind, power, page)]


def is_slow(kind: SelectorKind, query: str, page: bytes) -> bool:
    """Whether one selector may take long on a page."""
    return _is_slow(kind, degree(kind, query), page)


@lru_cache(maxsize=4096)
def degree(kind: SelectorKind, query: str) -> int:
    """Return with which power of the size of a page the time of a selector may grow; 1 for kinds that are bounded."""
    match kind:
        case "css" | "xpath":
            try:
                path = xpath_of(kind, query)
            except (SelectorError, RecursionError):
                return 1  # it does not run at all
            return _degree(LITERAL.sub("''", path), _looks_of_path)
        case "jsonpath":
            plain = LITERAL.sub("''", query)
            return _degree(plain, _looks_of_jsonpath) + len(SEVERAL.findall(plain))
        case _:
            return 1


def _powers(settings: ExtractorSettings) -> Iterator[tuple[str, SelectorKind, int]]:
    within = 0
    if settings.items:
        yield "items", settings.items.selector, degree(settings.items.selector, settings.items.query)
        within = 1
    for one in settings.fields:
        yield from _powers_of(one, one.name, within)


def _powers_of(leaf: Leaf, name: str, within: int) -> Iterator[tuple[str, SelectorKind, int]]:
    """Below all items together stands no more than a page, unless a selector looks beside the item that it is given."""
    beside = leaf.selector == "xpath" and LEAVES.search(leaf.query) is not None
    own = degree(leaf.selector, leaf.query)
    yield name, leaf.selector, own + within if beside or own > 2 else own
    for one in leaf.fields if isinstance(leaf, Part) else ():
        yield from _powers_of(one, f"{name}.{one.name}", within + 1)


def _is_slow(kind: SelectorKind, power: int, page: bytes) -> bool:
    if power < 2:
        return False
    marks, quick = ((b",", b"[", b"{"), QUICK_JSON_LOOKS) if kind == "jsonpath" else ((b"<",), QUICK_LOOKS)
    return bool(sum(map(page.count, marks)) ** power > quick)


def _degree(plain: str, looks: Callable[[str], int]) -> int:
    own, inner = _levels(plain, looks)
    return max(1, own) + inner


def _levels(plain: str, looks: Callable[[str], int]) -> tuple[int, int]:
    """Return how often a path looks at everything beside its predicates, and the most that one of these does."""
    outside, inner, depth, start, at = [], 0, 0, 0, 0
    for bracket in BRACKETS.finditer(plain):
        depth += 1 if bracket[0] == "[" else -1
        if bracket[0] == "[" and depth == 1:
            outside.append(plain[at : bracket.start()])
            start = bracket.end()
        elif bracket[0] == "]" and depth == 0:
            inner = max(inner, sum(_levels(plain[start : bracket.start()], looks)))
            at = bracket.end()
    return looks("[]".join([*outside, plain[at:]])), inner


def _looks_of_path(path: str) -> int:
    powers = [
        1 if BEFORE_A_PATH.search(path[: look.start()]) else 2 if look[1] else 3  # of one node, or of all found so far
        for look in LOOKS.finditer(path)
    ]
    if not powers:
        return 0
    compared = COMPARED.search(path)  # each with each
    return (sum(powers) if compared else max(powers)) + ("set:" in path or "|" in path)


def _looks_of_jsonpath(path: str) -> int:
    return path.count("..")  # what is found twice stays twice
