"""Everything that can be wrong with a workflow document that has the right shape, each named once."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from services.ledger.provider_settings import PROVIDER_NAMES, unsupported
from services.ledger.request_headers import header_faults
from services.ledger.workflow import (
    Edge,
    EntryNode,
    ExtractorNode,
    ExtractorSettings,
    FailedNode,
    Fault,
    Leaf,
    Part,
    ResultNode,
    RouteCheck,
    SelectorCheck,
    ServiceNode,
    ServiceSettings,
    SplitNode,
    WarehouseNode,
    Workflow,
)
from services.ledger.workflow_codes import FaultCode

OF_OBJECTS = ("jsonld", "microdata", "jsonpath")  # what these find may be an object already

# The edges that may leave a node of each kind, and those of which one has to.
_ALLOWED: dict[type, tuple[str, ...]] = {
    EntryNode: ("default", "success"),
    ServiceNode: ("success", "default", "fail"),
    SplitNode: ("default",),
    ExtractorNode: ("success", "default", "fail"),
    WarehouseNode: ("success", "default"),
    ResultNode: (),
    FailedNode: (),
}
_NEEDED = (EntryNode, ServiceNode, SplitNode, ExtractorNode)


def faults(
    workflow: Workflow,
    *,
    providers: Collection[str] = PROVIDER_NAMES,
    selector_fault: SelectorCheck | None = None,
    route_form: RouteCheck | None = None,
) -> list[Fault]:
    """Return every fault of a document; empty means it can run."""
    return [
        *node_faults(workflow),
        *name_faults(workflow),
        *edge_faults(workflow),
        *settings_faults(workflow, providers, selector_fault),
        *route_faults(workflow.routes, route_form),
    ]


def node_faults(workflow: Workflow) -> Iterator[Fault]:
    """Yield what is wrong with the nodes, whatever the edges are."""
    yield from _identity(workflow)
    yield from _entries(workflow)


def name_faults(workflow: Workflow) -> Iterator[Fault]:
    """Yield ids that nobody could read; a walk finds its way by them all the same."""
    for number, node in enumerate(workflow.nodes):
        if not node.id.isprintable():
            message = "holds a line break, a control character or one that nobody sees: leave it out"
            yield Fault(f"nodes[{number}].id", "bad_value", message)


def edge_faults(workflow: Workflow) -> Iterator[Fault]:
    """Yield what is wrong with the ways through the document."""
    yield from _edges(workflow)
    yield from _missing_edges(workflow)
    yield from _splits(workflow)
    yield from _shape(workflow)


def _identity(workflow: Workflow) -> Iterator[Fault]:
    seen: set[str] = set()
    for number, node in enumerate(workflow.nodes):
        if node.id in seen:
            yield Fault(f"nodes[{number}].id", "duplicate_id", f"another node is called {node.id!r} too: rename one")
        seen.add(node.id)


def _entries(workflow: Workflow) -> Iterator[Fault]:
    entries = [node.id for node in workflow.nodes if isinstance(node, EntryNode)]
    if not entries:
        yield Fault("nodes", "no_entry", "no node is of kind entry: add one, the walk begins there")
    if len(entries) > 1:
        yield Fault("nodes", "two_entries", f"{', '.join(entries)} are all of kind entry: keep one")


def _edges(workflow: Workflow) -> Iterator[Fault]:
    kinds = {node.id: type(node) for node in workflow.nodes}
    taken: set[tuple[str, str]] = set()
    for number, edge in enumerate(workflow.edges):
        path = f"edges[{number}]"
        if edge.source not in kinds:
            yield Fault(f"{path}.source", "unknown_source", f"no node is called {edge.source!r}")
        if edge.target not in kinds:
            yield Fault(f"{path}.target", "unknown_target", f"no node is called {edge.target!r}")
        kind = kinds.get(edge.source)
        if kind is None:
            continue
        if edge.on not in _ALLOWED[kind]:
            allowed = ", ".join(_ALLOWED[kind]) or "no edges: a walk ends there"
            code = _refused_edge(kind, edge)
            yield Fault(f"{path}.on", code, f"{edge.source!r} takes {allowed}, not {edge.on}")
        elif kind is SplitNode and edge.percent is None:
            yield Fault(f"{path}.percent", "missing_percent", "an edge of a split takes a percentage, from 0 to 100")
        if kind is not SplitNode:
            # default is the other name of success: with both, one would never be taken
            outcome = "fail" if edge.on == "fail" else "success"
            if (edge.source, outcome) in taken:
                yield Fault(path, "duplicate_edge", f"{edge.source!r} has another edge for {outcome}: keep one")
            taken.add((edge.source, outcome))
            if edge.percent is not None:
                yield Fault(f"{path}.percent", "percent_not_allowed", "only edges of a split take a percentage")


def _refused_edge(kind: type, edge: Edge) -> FaultCode:
    if not _ALLOWED[kind]:
        return "terminal_edge"
    return "fail_edge_not_allowed" if edge.on == "fail" else "edge_not_allowed"


def _missing_edges(workflow: Workflow) -> Iterator[Fault]:
    leaving = {(edge.source, edge.on) for edge in workflow.edges}
    for number, node in enumerate(workflow.nodes):
        if isinstance(node, _NEEDED) and not leaving & {(node.id, "default"), (node.id, "success")}:
            wanted = "a success edge" if isinstance(node, ServiceNode | ExtractorNode) else "a default edge"
            yield Fault(f"nodes[{number}]", "missing_edge", f"{node.id!r} leads nowhere: add {wanted}")


def _splits(workflow: Workflow) -> Iterator[Fault]:
    for number, node in enumerate(workflow.nodes):
        edges = [edge for edge in workflow.edges if edge.source == node.id]
        if isinstance(node, SplitNode) and edges:
            total = sum(edge.percent or 0 for edge in edges)
            if total != 100:
                message = f"the edges of {node.id!r} add up to {total} %: make it 100"
                yield Fault(f"nodes[{number}]", "split_not_100", message)


def _shape(workflow: Workflow) -> Iterator[Fault]:
    targets: dict[str, list[str]] = {node.id: [] for node in workflow.nodes}
    for edge in workflow.edges:
        if edge.source in targets and edge.target in targets:
            targets[edge.source].append(edge.target)
    reached: set[str] = set()
    waiting = [node.id for node in workflow.nodes if isinstance(node, EntryNode)]
    while waiting:
        current = waiting.pop()
        if current not in reached:
            reached.add(current)
            waiting.extend(targets[current])
    for number, node in enumerate(workflow.nodes):
        if reached and node.id not in reached:
            yield Fault(f"nodes[{number}]", "unreachable", f"no path from the entry leads to {node.id!r}")
    cycle = _cycle(targets)
    if cycle:
        yield Fault("edges", "cycle", f"{' -> '.join(cycle)} goes round for ever: remove one of these edges")
    if not any(isinstance(node, WarehouseNode) and (not reached or node.id in reached) for node in workflow.nodes):
        message = "no path from the entry ends in a node of kind warehouse: the extraction has to land somewhere"
        yield Fault("nodes", "no_warehouse", message)


def _cycle(targets: dict[str, list[str]]) -> list[str]:
    """Return the first cycle as its node ids, the first one repeated at the end, or an empty list."""
    done: set[str] = set()
    for start in targets:
        trail: list[str] = []
        branches = [iter([start])]
        while branches:
            following = next(branches[-1], None)
            if following is None:
                branches.pop()
                if trail:
                    done.add(trail.pop())
            elif following in trail:
                return [*trail[trail.index(following) :], following]
            elif following not in done:
                trail.append(following)
                branches.append(iter(targets[following]))
    return []


def settings_faults(
    workflow: Workflow, providers: Collection[str], selector_fault: SelectorCheck | None
) -> Iterator[Fault]:
    """Yield what is wrong with the settings of each node, beyond their shape."""
    for number, node in enumerate(workflow.nodes):
        path = f"nodes[{number}].settings"
        if isinstance(node, ServiceNode):
            yield from _service(path, node.settings, providers, selector_fault)
        if isinstance(node, ExtractorNode):
            yield from extractor_faults(path, node.settings, selector_fault)


def _service(
    path: str, settings: ServiceSettings, providers: Collection[str], selector_fault: SelectorCheck | None
) -> Iterator[Fault]:
    if settings.provider not in providers:
        message = f"no provider is called {settings.provider!r}: use {', '.join(sorted(providers))}"
        yield Fault(f"{path}.provider", "unknown_provider", message)
    yield from (replace(fault, path=f"{path}.{fault.path}") for fault in unsupported(settings.provider, settings))
    for name, message in header_faults(settings.headers):
        yield Fault(f"{path}.headers.{name}", "bad_header", message)
    required = settings.validation.required_selector
    fault = selector_fault("css", required) if selector_fault and required else None
    if fault:
        yield Fault(f"{path}.validation.requiredSelector", "bad_selector", fault)


def extractor_faults(path: str, settings: ExtractorSettings, selector_fault: SelectorCheck | None) -> Iterator[Fault]:
    """Yield what is wrong with the settings of an extractor, beyond their shape."""
    if not settings.fields:
        yield Fault(f"{path}.fields", "no_fields", "an extractor without fields reads nothing: add one")
    yield from _fields(path, settings.fields, selector_fault)
    if settings.items and selector_fault:
        fault = selector_fault(settings.items.selector, settings.items.query)
        if fault:
            yield Fault(f"{path}.items.query", "bad_selector", fault)


def _fields(path: str, fields: Sequence[Leaf], selector_fault: SelectorCheck | None) -> Iterator[Fault]:
    names = Counter(field.name for field in fields)
    for number, field in enumerate(fields):
        where = f"{path}.fields[{number}]"
        if names[field.name] > 1:
            yield Fault(f"{where}.name", "duplicate_field", f"another field is called {field.name!r} too: rename one")
        inner = field.fields if isinstance(field, Part) else ()
        if field.type == "object" and not inner and field.selector not in OF_OBJECTS:
            yield Fault(f"{where}.fields", "no_fields", f"an object that {field.selector} finds needs fields: add one")
        yield from _fields(where, inner, selector_fault)
        fault = selector_fault(field.selector, field.query) if selector_fault else None
        if fault:
            yield Fault(f"{where}.query", "bad_selector", fault)
        fault = selector_fault("regex", field.pattern) if selector_fault and field.pattern else None
        if fault:
            yield Fault(f"{where}.pattern", "bad_selector", fault)


def route_faults(routes: Iterable[str], route_form: RouteCheck | None) -> Iterator[Fault]:
    """Yield what is wrong with the routes; without the caller's knowledge of hosts each is taken as it is."""
    seen: set[str] = set()
    for number, route in enumerate(routes):
        form = route_form(route) if route_form else route
        if form is None:
            message = f"{route!r} is no route: write *, or domain: and the name of a host, as in domain:example.com"
            yield Fault(f"routes[{number}]", "bad_route", message)
        elif form in seen:
            yield Fault(f"routes[{number}]", "duplicate_route", f"another route is {form} too: take one out")
        seen.add(form or "")
