"""The workflow document: what a customer may write, how it is read, and which node follows which.

WorkflowInvalid  the document cannot run; carries every fault at once
"""

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from services.ledger.workflow_codes import FaultCode

MAX_NODES = 500
MAX_EDGES = 2_000
MAX_ROUTES = 100

NodeId = Annotated[str, Meta(min_length=1, max_length=64)]
AttributeName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_:.\-]*$(?!\n)", max_length=128)]
Country = Annotated[str, Meta(pattern=r"^([A-Za-z]{2})?$(?!\n)")]
Percent = Annotated[int, Meta(ge=0, le=100)]
Route = Annotated[
    str, Meta(min_length=1, max_length=300)
]  # `*`, or `domain:` and a host, whose subdomains it takes too
EdgeKind = Literal["default", "success", "fail"]
Backoff = Literal["instant", "deferred"]
OutputFormat = Literal["html", "json", "markdown", "text"]
SelectorKind = Literal["css", "xpath", "jsonld", "microdata", "opengraph", "jsonpath", "regex"]
GateVerdict = Literal[
    "captcha", "block", "soft_404", "maintenance", "login_wall", "consent_wall", "empty_shell", "empty_body"
]
ValueType = Literal["text", "number", "integer", "boolean", "money", "url", "date", "datetime", "list", "object"]
LocaleName = Annotated[str, Meta(pattern=r"^([a-z]{2,3}([-_][A-Za-z0-9]{2,8})*)?$(?!\n)")]

# Says what is wrong with a selector, or None; the ledger knows no selector library, so the caller brings it.
SelectorCheck = Callable[[SelectorKind, str], str | None]
# Returns the one form of a route that all its spellings share, or None where it is none; the caller knows about hosts.
RouteCheck = Callable[[str], str | None]


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """How every part of the document looks as JSON: camelCase, no unknown fields."""


class GateRules(_Wire, frozen=True, kw_only=True):
    """What the validation gate asks of a page beside its own knowledge of walls and error pages."""

    required_selector: str = ""  # CSS; empty: none
    min_text_chars: Annotated[int, Meta(ge=0, le=10_000_000)] = 0  # visible characters
    content_types: tuple[str, ...] = ()  # e.g. text/html, image/*; empty: any
    allow: tuple[GateVerdict, ...] = ()  # verdicts that do not refuse, e.g. login_wall


class ServiceSettings(_Wire, frozen=True, kw_only=True):
    """How a service node calls its provider, tries again, and judges the answer."""

    provider: str = "direct"
    country: Country = ""  # ISO 3166 alpha-2; empty: the provider's choice
    render_js: bool = False
    headers: dict[str, str] = {}
    session: str = ""  # calls with the same session leave by the same address, where the provider can
    output_format: OutputFormat = "html"
    timeout_seconds: Annotated[float, Meta(gt=0, le=600)] = 30.0  # of one try
    retries: Annotated[int, Meta(ge=1, le=50)] = 3  # tries at most, the first included
    retry_delay_ms: Annotated[int, Meta(ge=0, le=86_400_000)] = 1000
    retry_backoff: Backoff = "deferred"
    factor: Annotated[float, Meta(ge=1, le=10)] = 2.0
    jitter: Annotated[float, Meta(ge=0, le=1)] = 0.2  # share of the delay by which it is moved, both ways
    max_delay_ms: Annotated[int, Meta(ge=0, le=86_400_000)] = 300_000
    validation: GateRules = GateRules()


class Leaf(_Wire, frozen=True, kw_only=True):
    """One value: where it is found and what it has to be."""

    name: Annotated[str, Meta(min_length=1, max_length=128)]
    selector: SelectorKind = "css"
    query: str
    attribute: AttributeName = ""  # of the element; empty: its text, or what the type reads (href, datetime, content)
    pattern: str = ""  # RE2; of the text found only what it matches counts, its first group where it has one
    type: ValueType = "text"
    item_type: ValueType = "text"  # of the members of a list
    required: bool = False
    default: str | int | float | bool | None = None  # as it stands, not converted
    decimal_mark: Literal["", ".", ","] = ""  # empty: that of the locale, or told from the text
    date_format: str = ""  # strptime; empty: the usual unambiguous forms, and those of the locale
    locale: LocaleName = ""  # of numbers, dates and signs of currencies, e.g. de-AT


class Part(Leaf, frozen=True, kw_only=True):
    """One value, or an object of values that are read inside of what its query finds."""

    fields: tuple[Leaf, ...] = ()  # of an object, or of each object of a list


class Field(Part, frozen=True, kw_only=True):
    """One value of an item, with objects up to three deep."""

    fields: tuple[Part, ...] = ()


class ItemsSelector(_Wire, frozen=True, kw_only=True):
    """Where the items of a list page are; the fields are read inside each of them."""

    selector: SelectorKind = "css"
    query: str


class ExtractorSettings(_Wire, frozen=True, kw_only=True):
    """What an extractor node reads from a page, and when it refuses what it read."""

    fields: tuple[Field, ...]
    items: ItemsSelector | None = None  # None: the page is one item
    schema_id: str = ""
    data_type: str = ""
    fail_when_empty: bool = True
    fail_when_required_missing: bool = True
    min_completeness: Annotated[float, Meta(ge=0, le=1)] = 0.0  # less fails the node; 0: any


class EntryNode(_Wire, frozen=True, kw_only=True, tag="entry", tag_field="kind"):
    """Where the walk begins."""

    id: NodeId


class ServiceNode(_Wire, frozen=True, kw_only=True, tag="service", tag_field="kind"):
    """Calls a provider and judges its answer."""

    id: NodeId
    settings: ServiceSettings = ServiceSettings()


class SplitNode(_Wire, frozen=True, kw_only=True, tag="split", tag_field="kind"):
    """Sends each job down one of its edges, by their percentages."""

    id: NodeId


class ExtractorNode(_Wire, frozen=True, kw_only=True, tag="extractor", tag_field="kind"):
    """Reads items from the page."""

    id: NodeId
    settings: ExtractorSettings


class WarehouseNode(_Wire, frozen=True, kw_only=True, tag="warehouse", tag_field="kind"):
    """Hands the extraction to the destinations."""

    id: NodeId


class ResultNode(_Wire, frozen=True, kw_only=True, tag="result", tag_field="kind"):
    """Ends the walk well."""

    id: NodeId


class FailedNode(_Wire, frozen=True, kw_only=True, tag="failed", tag_field="kind"):
    """Ends the walk badly."""

    id: NodeId


Node = EntryNode | ServiceNode | SplitNode | ExtractorNode | WarehouseNode | ResultNode | FailedNode


class Edge(_Wire, frozen=True, kw_only=True):
    """From one node to another, taken on an outcome; `percent` belongs to the edges of a split."""

    source: NodeId
    target: NodeId
    on: EdgeKind = "default"
    percent: Percent | None = None


class Workflow(_Wire, frozen=True, kw_only=True):
    """A whole workflow document."""

    name: Annotated[str, Meta(max_length=200)] = ""
    routes: Annotated[tuple[Route, ...], Meta(max_length=MAX_ROUTES)] = ()  # whose jobs it runs that name no workflow
    nodes: Annotated[tuple[Node, ...], Meta(max_length=MAX_NODES)]
    edges: Annotated[tuple[Edge, ...], Meta(max_length=MAX_EDGES)]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a document: where (`nodes[2].settings.provider`), what, and what to do."""

    path: str
    code: FaultCode
    message: str


class WorkflowInvalid(Exception):
    """The document cannot run; `faults` names everything that is wrong with it."""

    def __init__(self, faults: Collection[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{fault.path}: {fault.message}" for fault in self.faults))

    def __reduce__(self) -> tuple[type["WorkflowInvalid"], tuple[tuple[Fault, ...]]]:
        return type(self), (self.faults,)


def digest(workflow: Workflow) -> str:
    """Return the content address of a document: SHA-256 of its canonical JSON, as hex."""
    return hashlib.sha256(msgspec.json.encode(workflow, order="sorted")).hexdigest()


def node_of(workflow: Workflow, node_id: str) -> Node:
    """Return a node by its id; KeyError if the document has none."""
    for node in workflow.nodes:
        if node.id == node_id:
            return node
    raise KeyError(f"workflow {workflow.name!r} has no node {node_id!r}")


def entry_of(workflow: Workflow) -> Node:
    """Return the entry of a valid document."""
    return next(node for node in workflow.nodes if isinstance(node, EntryNode))


def next_node(workflow: Workflow, node_id: str, edge: EdgeKind) -> Node | None:
    """Return where an outcome leads: its own edge, for a success else the default edge, or None."""
    wanted = ("success", "default") if edge == "success" else (edge,)
    for kind in wanted:
        for candidate in workflow.edges:
            if candidate.source == node_id and candidate.on == kind:
                return node_of(workflow, candidate.target)
    return None


def split_choice(workflow: Workflow, node_id: str, job_id: str) -> Node:
    """Return the branch of a split for a job: always the same one for the same job, node and edges."""
    hashed = hashlib.sha256(f"{node_id}\0{job_id}".encode()).digest()
    place = int.from_bytes(hashed[:8], "big") % 100
    edges = [edge for edge in workflow.edges if edge.source == node_id]
    reached = 0
    for edge in edges:
        reached += edge.percent or 0
        if place < reached:
            return node_of(workflow, edge.target)
    return node_of(workflow, edges[-1].target)
