"""What a row of the read model holds comes out under the name that the API has for it, and nothing under another's."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import UnionType
from typing import Any, get_args, get_origin
from uuid import UUID

import msgspec
import pytest

from api import shown
from api.routes.results import _shown
from projections.postgres.rows import Visit
from projections.postgres.views import Extraction, Gate, JobLine

NOON = datetime(2027, 1, 15, 12, tzinfo=UTC)
SHOWN_BY: dict[Any, Callable[[Any], Any]] = {
    Visit: shown.visit,
    JobLine: shown.summary,
    Gate: shown.gate,
    Extraction: _shown,
}
NAMES: dict[Any, dict[str, str]] = {  # of the API, where they differ from those of the row in more than their writing
    Visit: {"node_id": "node", "node_kind": "kind", "try_number": "attempt", "message": "errorMessage",
            "next_node_id": "nextNode"},
    JobLine: {"workflow_version": "version", "submitted_at": "createdAt", "finished_at": "completedAt"},
    Gate: {},
    Extraction: {},
}  # fmt: skip
INSIDE: dict[Any, set[str]] = {  # that no answer shows
    Visit: {"org_id", "job_id", "seq", "event_id", "partition", "attempt", "final_url", "body_ref", "content_type",
            "body_bytes"},
    JobLine: {"vocabulary"}, Gate: set(), Extraction: set(),
}  # fmt: skip


def value(kind: Any, number: int) -> Any:
    """Return a value of a type, another one for each number."""
    if get_origin(kind) is UnionType:
        kind = next(each for each in get_args(kind) if each is not type(None))
    if get_origin(kind) is list:
        return [value(get_args(kind)[0], number)]
    made = {
        int: number,
        float: number / 100,
        bool: True,
        datetime: NOON + timedelta(seconds=number),
        UUID: UUID(int=number),
    }
    return made.get(kind, f"text {number}")


@pytest.mark.parametrize("row", SHOWN_BY, ids=lambda row: row.__name__)
def test_each_field_of_a_row_is_shown_under_its_name(row: type[msgspec.Struct]) -> None:
    fields = {field.name: value(field.type, 100 + n) for n, field in enumerate(msgspec.structs.fields(row))}
    names = NAMES[row]
    answer = msgspec.to_builtins(SHOWN_BY[row](row(**fields)))
    expected = {
        names.get(name) or msgspec.defstruct("N", [(name, int)], rename="camel").__struct_encode_fields__[0]: plain(
            held
        )
        for name, held in fields.items()
        if name not in INSIDE[row]
    }
    assert answer == expected


def plain(held: Any) -> Any:
    """Return a value as JSON has it."""
    match held:
        case datetime():
            return held.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        case UUID():
            return str(held)
        case list():
            return [plain(each) for each in held]
        case _:
            return held
