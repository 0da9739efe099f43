"""Bodies that are no pages, or of a size and in bytes that nobody expects: each has a verdict, in bounded time."""

import gzip
import random

import pytest

from services.workers.gate.judge import Page, judge
from tests.unit.hostile import told_within

MB = 1_000_000
CPU_SECONDS, MEMORY_BYTES = 12, 1 << 30  # for all of them; one that is not bounded takes minutes
LATIN = "<p>The kettle is made of steel and holds one litre and a half of water for tea.</p>\n"
CYRILLIC = "<p>Чайник из стали вмещает полтора литра воды для чая или кофе, крышка с замком.</p>\n"
NOT_FOUND = "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>"
RUN = """
import json, sys
from services.workers.gate.judge import Page, judge
for name, (text, times, encoding) in json.load(sys.stdin).items():
    body = ("<html><head><title>Kettles</title></head><body>" + text * times).encode(encoding)
    verdict = judge(Page(200, "text/html; charset=utf-8", body))
    print(json.dumps([name, verdict.rule if verdict else None]), flush=True)
"""
# name -> (text, how often, encoding, verdict)
LARGE: dict[str, tuple[str, int, str, str | None]] = {
    "ten megabytes": (LATIN, 10 * MB // len(LATIN), "utf-8", None),
    "ten megabytes in Cyrillic that claim to be UTF-8": (CYRILLIC, 10 * MB // len(CYRILLIC), "cp1251", None),
    "ten megabytes of UTF-16 without a mark": (LATIN, 5 * MB // len(LATIN), "utf-16-le", None),
    "one line of words": ("word ", 2 * MB, "utf-8", None),
    "a script": ("<script>" + "var a=1;" * 500_000 + "</script>", 1, "utf-8", "empty_shell"),
    "a comment without end": ("<!--" + "x" * 5 * MB, 1, "utf-8", "empty_body"),
    "an attribute without end": ("<p title='" + "x" * 5 * MB, 1, "utf-8", "empty_body"),
    "a million divs before the first word": ("<div>" * MB + "hello", 1, "utf-8", None),
    "nothing but signs that open tags": ("<", 3 * MB, "utf-8", None),
    "zero bytes": ("\0", 3 * MB, "utf-8", None),
    "links": ("<a href=/x>One</a> ", MB // 4, "utf-8", None),
}


def test_large_bodies_have_a_verdict_in_bounded_time() -> None:
    told = told_within(
        RUN, {name: row[:3] for name, row in LARGE.items()}, cpu_seconds=CPU_SECONDS, memory_bytes=MEMORY_BYTES
    )
    assert told == {name: verdict for name, (*_, verdict) in LARGE.items()}


def rule_of(body: bytes, content_type: str = "text/html; charset=utf-8") -> str | None:
    verdict = judge(Page(200, content_type, body))
    return verdict.rule if verdict else None


def test_what_nobody_unpacked_is_no_page_even_where_it_was_cut_off() -> None:
    packed = gzip.compress((LATIN * 500).encode())
    assert {rule_of(packed[:size]) for size in (10, 100, len(packed))} == {"wrong_content_type"}
    assert rule_of(packed, "application/gzip") is None


@pytest.mark.parametrize("magic", [b"%PDF-1.4\n", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04", b"\xff\xd8\xff\xe0"])
def test_a_document_under_the_name_of_a_page_passes(magic: bytes) -> None:
    assert rule_of(magic + random.Random(1).randbytes(20_000)) is None


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-8-sig", "cp1252", "koi8-r"])
def test_an_error_page_is_known_in_whatever_encoding_it_comes(encoding: str) -> None:
    assert rule_of(NOT_FOUND.encode(encoding)) == "soft_404"
    assert rule_of(NOT_FOUND.encode(encoding), "text/html; charset=big5") == "soft_404"


@pytest.mark.parametrize("size", range(60, 85, 3))
def test_an_error_page_that_was_cut_off_is_still_one(size: int) -> None:
    assert rule_of(NOT_FOUND.encode()[:size]) == "soft_404"
