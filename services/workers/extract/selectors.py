"""Selectors of all kinds: checked by the API when a workflow is saved, run when a page is read."""

import re
from functools import lru_cache
from typing import Any, assert_never

from cssselect import SelectorError
from parsel import Selector
from parsel.csstranslator import HTMLTranslator

from services.ledger.workflow import Fault, Leaf, SelectorKind, WorkflowInvalid
from services.workers.extract import jsonld, jsonpaths, patterns, xpaths
from services.workers.extract.size import MAX_CHARS

MAX_QUERY_CHARS = 4096
# What a type reads from an element when the field names no attribute; then its text.
NATURAL_ATTRIBUTES = {
    "url": ("href", "src", "content"),
    "date": ("datetime", "content"),
    "datetime": ("datetime", "content"),
}
TEXTS = ".//text()[not(parent::script or parent::style)]"
PROPERTY = re.compile(r"[\w.:\-]{1,128}")


def selector_fault(kind: SelectorKind, query: str) -> str | None:
    """Say what is wrong with a selector, or None when it can run; fits `services.ledger.workflow.SelectorCheck`."""
    if not query.strip():
        return f"an empty {kind} selector finds nothing: write one"
    if len(query) > MAX_QUERY_CHARS:
        return f"a {kind} selector takes at most {MAX_QUERY_CHARS} characters"
    match kind:
        case "jsonld" | "microdata":
            return jsonld.path_fault(query)
        case "jsonpath":
            return jsonpaths.query_fault(query)
        case "regex":
            return patterns.pattern_fault(query)
        case "opengraph":
            return None if PROPERTY.fullmatch(query) else f"{query!r} is no opengraph property: write one like og:title"
        case "css" | "xpath":
            return _path_fault(kind, query)
        case _:
            assert_never(kind)


def _path_fault(kind: SelectorKind, query: str) -> str | None:
    try:
        xpaths.evaluated(Selector(text="<html></html>", type="html"), xpath_of(kind, query))
    except (ValueError, SelectorError, RecursionError) as error:
        return _cannot(kind, query, error)
    return None


def _cannot(kind: SelectorKind, query: str, error: Exception) -> str:
    return f"{query!r} is not a {kind} selector: {str(error) or type(error).__name__}"


@lru_cache(maxsize=4096)
def xpath_of(kind: SelectorKind, query: str) -> str:
    """Return a CSS or XPath selector as XPath; SelectorError for CSS that cannot be read."""
    return HTMLTranslator().css_to_xpath(query) if kind == "css" else query


def nodes(scope: Selector, kind: SelectorKind, query: str, *, inside: bool = False) -> list[Selector]:
    """Return what a CSS or XPath selector finds; `inside` an item, //x means x below it and not in the whole page.

    WorkflowInvalid for what turns out to be none only where there is something to look at, as `//a[count(1)]`.
    """
    try:
        path = xpath_of(kind, query)
        return list(xpaths.evaluated(scope, xpaths.inside(path) if inside else path))
    except (ValueError, SelectorError, RecursionError) as error:
        raise WorkflowInvalid([Fault("query", "bad_selector", _cannot(kind, query, error))]) from None


def is_element(node: Selector) -> bool:
    """Say whether a selector found an element, and no text, attribute, number, comment or namespace."""
    return isinstance(getattr(node.root, "tag", None), str)


def raw_values(found: list[Selector], field: Leaf) -> list[str]:
    """Return the texts that the nodes found stand for; but for a list none after the first that is not empty."""
    texts: list[str] = []
    chars = 0
    kind = field.item_type if field.type == "list" else field.type
    for node in found[: xpaths.MAX_FOUND]:
        text = _raw(node, field, kind)
        if text is not None:
            texts.append(text)
            chars += len(text)
        if (text and field.type != "list") or chars > MAX_CHARS:
            break
    return texts


def _raw(node: Selector, field: Leaf, kind: str) -> str | None:
    element = node.root  # its attributes one by one: broken markup has names that lxml cannot list
    if isinstance(element, str | float | bool):  # text(), @attribute and functions yield no elements
        return str(node.get())
    if not is_element(node):  # comments and the like have a text; of a namespace the name is what can be told
        return str(element[1] if isinstance(element, tuple) else element.text or "")
    if field.attribute:
        return _attribute(element, field.attribute)
    if element.tag == "meta":
        return _attribute(element, "content")
    for name in NATURAL_ATTRIBUTES.get(kind, ()):
        value = _attribute(element, name)
        if value is not None:
            return value
    if field.type != "list" and element.get("itemprop") and element.get("content"):
        return _attribute(element, "content")  # microdata for machines: <span itemprop=price content=1299.00>
    return " ".join(_texts(node))


def _attribute(element: Any, name: str) -> str | None:
    value = element.get(name)
    return None if value is None else str(value)


def _texts(node: Selector) -> list[str]:
    return " ".join(node.root.xpath(TEXTS, smart_strings=False)).split()
