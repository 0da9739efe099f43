"""A page as the selectors of an extractor see it; what a kind of selector needs is read when the first one asks."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from parsel import Selector

from services.ledger.workflow import ItemsSelector, Leaf
from services.workers.extract import jsonpaths, microdata, patterns
from services.workers.extract.jsonld import Graph, TooMuch, all_at, found_at, graph_of, things_of
from services.workers.extract.selectors import is_element, nodes, raw_values
from services.workers.tags import MAX_ATTRIBUTES, overlong_tag

SCRIPTS = "//script[contains(@type, '{}')]/text()"


def too_hard(text: str) -> str:
    """Say why a page is not parsed at all: an element with attributes without end; nothing where it can be."""
    if overlong_tag(text.encode("utf-8", "replace")) is None:
        return ""
    return f"an element has more than {MAX_ATTRIBUTES} attributes: the page is not read"


@dataclass(frozen=True)
class View:
    """The page; `faults` says what of it could not be read, as (code, message)."""

    text: str
    faults: list[tuple[str, str]] = field(default_factory=list)
    budget: patterns.Budget = field(default_factory=patterns.Budget)

    def matches(self, pattern: str, text: str) -> list[str]:
        """Return what a pattern matches, place by place; nothing where the time of this page is over, which is told."""
        try:
            return self.budget.found(pattern, text)
        except patterns.TooLong as error:
            if not any(error.args[0] == message for _, message in self.faults):
                self.faults.append(("too_large", str(error)))
            return []

    def note_too_large(self, query: str, documents: list[jsonpaths.Json]) -> None:
        """Tell of a path whose filters look through a whole document that is too large for that, once."""
        message = f"{query!r} looks through a document for each of its values: it leaves out those that have many"
        told = ("too_large", message)
        if told not in self.faults and any(jsonpaths.compares_too_much(query, one) for one in documents):
            self.faults.append(told)

    @cached_property
    def root(self) -> Selector:
        """The page as a tree."""
        return Selector(text=self.text or "<html></html>", type="html")

    @cached_property
    def jsonld(self) -> Graph:
        """The things of its JSON-LD."""
        try:
            things, broken = things_of(self.root.xpath(SCRIPTS.format("ld+json")).getall())
        except TooMuch as error:
            self.faults.append(("too_large", str(error)))
            return Graph([])
        if broken:
            self.faults.append(("broken_jsonld", f"{broken} JSON-LD scripts cannot be read"))
        return graph_of(things)

    @cached_property
    def microdata(self) -> Graph:
        """The things of its microdata."""
        return graph_of(microdata.things_of(self.root))

    @cached_property
    def properties(self) -> dict[str, list[str]]:
        """Its meta properties."""
        return microdata.properties_of(self.root)

    @cached_property
    def documents(self) -> list[jsonpaths.Json]:
        """The page where it is JSON, else the JSON of its scripts."""
        whole = jsonpaths.documents_of([self.text])
        documents = whole or jsonpaths.documents_of(self.root.xpath(SCRIPTS.format("json")).getall())
        large = sum(one.values > jsonpaths.MAX_SEARCHED for one in documents)
        if large:
            message = f"{large} JSON documents have more than {jsonpaths.MAX_SEARCHED} values: `..` leaves them out"
            self.faults.append(("too_large", message))
        return documents


@dataclass(frozen=True)  # without slots: what is read once is kept
class Scope:
    """Where the fields of an item are read: the page, an element of it, a thing or a text."""

    view: View
    node: Selector | None = None  # an element
    data: Any = None  # a thing of JSON-LD, microdata or JSON
    text: str | None = None  # what a pattern matched

    @property
    def is_page(self) -> bool:
        """Says whether nothing was chosen yet."""
        return self.node is None and self.data is None and self.text is None

    def raw(self, leaf: Leaf) -> Any | None:
        """Return what a field finds here: texts, or a value of a thing; None where it finds nothing."""
        match leaf.selector:
            case "css" | "xpath":
                return raw_values(self._nodes(leaf.selector, leaf.query), leaf) or None
            case "jsonld" | "microdata":
                return found_at(leaf.query, self._graph(leaf.selector))
            case "jsonpath":
                values = self._values(leaf.query)
                return (values if leaf.type == "list" and len(values) != 1 else values[0]) if values else None
            case "opengraph":
                return self.view.properties.get(leaf.query.lower()) if self.data is None else None
            case "regex":
                if leaf.type == "list":
                    return self.view.matches(leaf.query, self._source()) or None
                return patterns.found(leaf.query, self._source()) or None

    def below(self, chosen: ItemsSelector | Leaf) -> list["Scope"]:
        """Return what a selector finds here as scopes of their own."""
        match chosen.selector:
            case "css" | "xpath":
                found = self._nodes(chosen.selector, chosen.query)
                return [Scope(self.view, node=one) for one in found if is_element(one)]
            case "jsonld" | "microdata":
                found_things = all_at(chosen.query, self._graph(chosen.selector))
                return [Scope(self.view, data=one) for one in found_things]
            case "jsonpath":
                values = self._values(chosen.query)
                members = values[0] if len(values) == 1 and isinstance(values[0], list) else values
                return [Scope(self.view, data=one) for one in members if isinstance(one, dict | list)]
            case "regex":
                return [Scope(self.view, text=one) for one in self.view.matches(chosen.query, self._source())]
            case "opengraph":
                return []

    def _nodes(self, kind: Any, query: str) -> list[Selector]:
        if self.is_page:
            return nodes(self.view.root, kind, query)
        return nodes(self.node, kind, query, inside=True) if self.node is not None else []

    def _graph(self, kind: str) -> Graph:
        graph = self.view.jsonld if kind == "jsonld" else self.view.microdata
        if isinstance(self.data, dict):
            return graph.inside(self.data)
        if self.data is not None or self.text is not None:
            return Graph([])
        return self._marked if kind == "microdata" and self.node is not None else graph

    @cached_property
    def _marked(self) -> Graph:
        """The microdata inside of an element, read once for all its fields."""
        return Graph(microdata.things_of(self.node) if self.node is not None else [], self.view.microdata.by_id)

    def _values(self, query: str) -> list[Any]:
        if self.text is not None:
            return []
        documents = self.view.documents if self.data is None else [jsonpaths.Json(self.data)]
        self.view.note_too_large(query, documents)
        return jsonpaths.found(query, documents)

    def _source(self) -> str:
        if self.text is not None:
            return self.text
        if self.node is not None:
            return str(self.node.get())
        return self.view.text if self.data is None else ""
