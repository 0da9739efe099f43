"""Microdata as things of the same shape as JSON-LD's, and the meta properties of a page (OpenGraph and its kin)."""

from typing import Any

from parsel import Selector

MAX_MARKED = 20_000  # elements with itemprop or itemscope that are looked at
MAX_ABOVE = 200  # elements between a property and its thing
TEXT_CHARS = 20_000
LINKS = {"a": "href", "area": "href", "link": "href", "object": "data", "data": "value", "meter": "value"}
SOURCES = ("audio", "embed", "iframe", "img", "source", "track", "video")


def things_of(scope: Selector) -> list[dict[str, Any]]:
    """Return the things at and below an element that are no property of another; several values become a list."""
    things: dict[Any, dict[str, Any]] = {}
    tops: list[dict[str, Any]] = []
    for node in scope.xpath("descendant-or-self::*[@itemscope or @itemprop]")[:MAX_MARKED]:
        element = node.root
        thing = _thing(element) if element.get("itemscope") is not None else None
        if thing is not None:
            things[element] = thing
        owner = _owner(element, things) if element.get("itemprop") is not None else None
        if owner is not None:
            for name in str(element.get("itemprop")).split():
                _add(owner, name, _value(node) if thing is None else thing)
        elif thing is not None:
            tops.append(thing)
    return tops


def properties_of(page: Selector) -> dict[str, list[str]]:
    """Return the contents of meta elements by their property or name, in lower case."""
    found: dict[str, list[str]] = {}
    for node in page.xpath("//meta[@content]")[:MAX_MARKED]:
        element = node.root
        name = str(element.get("property") or element.get("name") or "").strip().lower()
        content = str(element.get("content")).strip()
        if name and content:
            found.setdefault(name, []).append(content)
    return found


def _thing(element: Any) -> dict[str, Any]:
    types = [one.rstrip("/").rpartition("/")[2] for one in str(element.get("itemtype") or "").split()]
    thing: dict[str, Any] = {"@type": types[0] if len(types) == 1 else types} if types else {}
    if element.get("itemid"):
        thing["@id"] = str(element.get("itemid"))
    return thing


def _owner(element: Any, things: dict[Any, dict[str, Any]]) -> dict[str, Any] | None:
    above = element.getparent()
    for _ in range(MAX_ABOVE):
        if above is None or above in things:
            return things.get(above)
        above = above.getparent()
    return None


def _add(owner: dict[str, Any], name: str, value: Any) -> None:
    if name not in owner:
        owner[name] = value
    elif isinstance(owner[name], list):
        owner[name].append(value)
    else:
        owner[name] = [owner[name], value]


def _value(node: Selector) -> str:
    element = node.root
    name = (
        "src" if element.tag in SOURCES else LINKS.get(element.tag, "datetime" if element.tag == "time" else "content")
    )
    value = element.get(name)
    if value is None:
        value = element.get("content")
    return (
        str(value).strip()
        if value is not None
        else " ".join("".join(node.xpath(".//text()").getall())[:TEXT_CHARS].split())
    )
