"""The description and the documents follow from the code."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from api import openapi
from api.errors import CODES
from api.operation import Operation
from api.routes.all import OPERATIONS

DOCS = Path(__file__).parents[3] / "docs"


def test_the_description_is_valid_openapi_3_1() -> None:
    OpenAPIV31SpecValidator(json.loads(openapi.text(OPERATIONS))).validate()


def test_docs_openapi_json_is_current() -> None:
    renew = "run: python -m services.cli.docs_check --write"
    assert (DOCS / "openapi.json").read_text("utf-8") == openapi.text(OPERATIONS), renew


def test_every_operation_has_its_own_id_and_says_what_it_does() -> None:
    described = [call for path in openapi.document(OPERATIONS)["paths"].values() for call in path.values()]
    assert len({call["operationId"] for call in described}) == len(OPERATIONS)
    assert all(call["summary"] and call["description"] for call in described)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: f"{operation.method} {operation.path}")
def test_every_call_has_a_curl_line_and_known_errors(operation: Operation) -> None:
    assert set(operation.errors) <= set(CODES)
    path = re.sub(r"{(\w+)}", lambda name: "$" + name[1].upper(), operation.path)
    lines = [line for line in (DOCS / "api.md").read_text("utf-8").splitlines() if line.startswith("curl")]
    assert any(_is_for(line, operation.method, path) for line in lines), f"docs/api.md has no line for {path}"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.path)
def test_every_read_of_what_the_ledger_did_takes_min_position(operation: Operation) -> None:
    folded = ("/api/jobs", "/api/v1/jobs", "/api/v1/extraction", "/api/v1/schedules")
    if operation.method == "GET" and operation.path.startswith(folded):
        assert operation.positioned


def test_every_error_code_is_in_docs_errors_md_with_its_status_and_what_it_means() -> None:
    table = (DOCS / "errors.md").read_text("utf-8").partition("\n## ")[0]
    written = [line for line in table.splitlines() if line.startswith("| `")]
    assert sorted(written) == sorted(
        f"| `{code}` | {status} | {meaning} |" for code, (status, meaning) in CODES.items()
    )


def _is_for(line: str, method: str, path: str) -> bool:
    words: list[Any] = line.replace('"', " ").replace("'", " ").split()
    given = words[words.index("-X") + 1] if "-X" in words else "POST" if "--json" in words else "GET"
    return given == method and any(word.split("?")[0] == f"$API{path}" for word in words)
