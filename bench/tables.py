"""Figures as Markdown: any value that JSON holds becomes lines and tables, so that no result file stays unseen."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

MACHINE, ROUNDS = "machine", "rounds"
LEFT_OUT = {MACHINE, "command", "broker"}  # said in the sentence above the tables
MISSING = "-"

Json = object  # what json.loads returns


def machine_line(figures: Mapping[str, Json]) -> str:
    """Return how and where figures were measured, as far as they say it."""
    machine = figures.get(MACHINE)
    parts = []
    if _is_mapping(machine):
        facts = f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gib']} GiB"
        parts.append(f"{facts}, Python {machine['python']}")
    if figures.get("broker"):
        parts.append(str(figures["broker"]))
    if figures.get("command"):
        parts.append(f"`{figures['command']}`")
    return "; ".join(parts) + "." if parts else ""


def tables(figures: Mapping[str, Json]) -> Iterator[str]:
    """Yield Markdown of figures of any form: single values first, then a table for each group; raw rounds stay away."""
    shown = {name: value for name, value in figures.items() if name not in LEFT_OUT and not _is_raw(name, value)}
    single = {name: value for name, value in shown.items() if _is_plain(value)}
    if single:
        yield table(("", ""), [(words(name), text(value)) for name, value in single.items()])
    groups = {name: value for name, value in shown.items() if name not in single}
    while groups:
        name, value = next(iter(groups.items()))
        alike = [other for other, each in groups.items() if _columns(each) and _columns(each) == _columns(value)]
        if len(alike) > 1:
            yield _records([(words(other), groups.pop(other)) for other in alike])
        else:
            yield from _group(name, groups.pop(name))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; figures stand to the right."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def words(name: str) -> str:
    """Return the name of a field as words."""
    return name.replace("_", " ")


def text(value: Json) -> str:
    """Return a plain value as it is read."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if _is_list(value):
        return ", ".join(text(each) for each in value)
    return str(value).replace("|", "\\|") if value not in (None, "") else MISSING


def _group(name: str, value: Json) -> Iterator[str]:
    """Yield a table of a mapping or of a list of mappings."""
    if _is_list(value):
        yield f"**{words(name)}**"
        yield _records([(None, each) for each in value])
    elif _is_mapping(value):
        inner = list(value.items())
        yield f"**{words(name)}**"
        if inner and all(_is_mapping(each) for _, each in inner):
            yield _records([(words(key), each) for key, each in inner])
        else:
            yield table(("", ""), [(words(key), text(each)) for key, each in _flat(value)])


def _columns(value: Json) -> tuple[str, ...]:
    """Return what a mapping of plain values has, so that those that have the same make one table."""
    plain = _is_mapping(value) and all(_is_plain(each) for each in value.values())
    return tuple(value) if plain and _is_mapping(value) else ()


def _records(records: Sequence[tuple[str | None, Json]]) -> str:
    """Return one row for each record, with a column for each field that any of them has."""
    flat = [(name, dict(_flat(each))) for name, each in records]
    columns = list(dict.fromkeys(key for _, fields in flat for key in fields))
    named = any(name is not None for name, _ in flat)
    head = [*([""] if named else []), *(words(column) for column in columns)]
    rows = [
        [*([name or ""] if named else []), *(text(fields.get(column)) for column in columns)] for name, fields in flat
    ]
    return table(head, rows)


def _flat(value: Json, prefix: str = "") -> Iterator[tuple[str, Json]]:
    """Yield plain values with their path; raw rounds stay away."""
    if not _is_mapping(value):
        yield prefix.strip(), value
        return
    for key, each in value.items():
        if _is_raw(key, each):
            continue
        if _is_plain(each):
            yield f"{prefix}{key}", each
        elif _is_mapping(each):
            yield from _flat(each, f"{prefix}{key} ")


def _is_raw(name: str, value: Json) -> bool:
    return name == ROUNDS and _is_list(value)


def _is_plain(value: Json) -> bool:
    return not _is_mapping(value) and not (_is_list(value) and any(_is_mapping(each) for each in value))


def _is_mapping(value: Json) -> TypeGuard[Mapping[str, Json]]:
    return isinstance(value, Mapping)


def _is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, list)
