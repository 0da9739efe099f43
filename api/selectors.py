"""Tells whether a selector can run, when a workflow is saved: before a job trips over it.

The API may not import the workers, whose own check this mirrors; a test holds the two together.
"""

import re

from cssselect import SelectorError
from parsel import Selector
from parsel.csstranslator import HTMLTranslator

from services.ledger.workflow import SelectorKind

MAX_QUERY_CHARS = 4096
_JSONLD_SEGMENT = re.compile(r"(@?[A-Za-z_][\w:\-]*)((?:\[\d+\])*)")


def selector_fault(kind: SelectorKind, query: str) -> str | None:
    """Return what is wrong with a selector, or None; fits `services.ledger.workflow.SelectorCheck`."""
    if not query.strip():
        return f"an empty {kind} selector finds nothing: write one"
    if len(query) > MAX_QUERY_CHARS:
        return f"a selector takes at most {MAX_QUERY_CHARS} characters"
    if kind == "jsonld":
        return _jsonld_fault(query)
    try:
        Selector(text="<html></html>").xpath(HTMLTranslator().css_to_xpath(query) if kind == "css" else query)
    except (ValueError, SelectorError) as error:
        return f"{query!r} is not a {kind} selector: {str(error) or type(error).__name__}"
    return None


def _jsonld_fault(query: str) -> str | None:
    for segment in query.split("."):
        if not _JSONLD_SEGMENT.fullmatch(segment):
            return f"{segment!r} is not a segment of a JSON-LD path: write one like Product.offers.price or image[0]"
    return None
