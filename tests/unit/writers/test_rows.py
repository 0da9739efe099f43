"""Rows of extractions: what Postgres cannot hold is replaced and counted."""

import json

import pytest

from services.writers.rows import Unreadable, row_of
from tests.unit.writers.fakes import delivery


def test_the_normalized_part_of_the_document_becomes_the_row() -> None:
    row = row_of(delivery(1), json.dumps({"normalized": {"name": "Lamp"}, "problems": []}).encode())
    assert json.loads(row.normalized) == {"name": "Lamp"}
    assert row.columns()["id"] == row_of(delivery(1, generation=2), b"").columns()["id"]


def test_nul_in_strings_and_names_is_replaced_and_counted() -> None:
    document = {"normalized": {"a\0": ["b\0\0", {"c": "\0"}]}, "replacedCharacters": 2}
    row = row_of(delivery(1), json.dumps(document).encode())
    assert json.loads(row.normalized) == {"a\ufffd": ["b\ufffd\ufffd", {"c": "\ufffd"}]}
    assert row.replaced_characters == 6


def test_halves_of_surrogate_pairs_are_replaced_and_whole_pairs_and_spelled_out_escapes_stay() -> None:
    data = rb'{"normalized": {"\ud800k": "\uDFFF", "pair": "\ud83d\ude00", "spelled": "\\u0000 \\ud800"}}'
    row = row_of(delivery(1), data)
    assert json.loads(row.normalized) == {
        "\ufffdk": "\ufffd",
        "pair": "\U0001f600",
        "spelled": r"\u0000 \ud800",
    }
    assert row.replaced_characters == 2


def test_a_job_without_an_extraction_has_an_empty_object() -> None:
    assert row_of(delivery(1, extraction_ref=""), b"").normalized == "{}"


@pytest.mark.parametrize("data", [b"<html>", b"[1]", b'{"normalized": ', b'{"normalized": "\\u0000' + b"[" * 9])
def test_what_is_no_extraction_is_told_apart(data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"extraction-2\.json"):
        row_of(delivery(1), data)
