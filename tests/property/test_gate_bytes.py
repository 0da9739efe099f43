"""No bytes break the gate."""

from hypothesis import given, settings
from hypothesis import strategies as st

from services.workers.gate.judge import Page, judge
from services.workers.gate.text import decoded

CONTENT_TYPES = st.sampled_from(
    ["text/html", "text/html; charset=utf-16", "text/html; charset=gb2312", "", "a/b"]
) | st.text(max_size=30)
MARKUP = st.lists(
    st.sampled_from(
        [b"<html>", b"<title>", b"</title>", b"<script>", b"<p>", b"<input type=password>", b"\0", b"\xff\xfe", b"&#0;"]
    )
    | st.binary(max_size=20)
).map(b"".join)


@given(st.binary() | MARKUP, CONTENT_TYPES)
def test_any_bytes_are_decoded(body: bytes, content_type: str) -> None:
    result = decoded(body, content_type)
    assert isinstance(result.text, str)
    assert "".encode(result.encoding) is not None


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_utf_8_is_read_as_it_was_written(text: str) -> None:
    body = text.encode()
    if b"\0" not in body and not body.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        assert decoded(body, "text/html; charset=utf-8").text == text


@settings(deadline=None)
@given(st.binary() | MARKUP, CONTENT_TYPES, st.text(max_size=20))
def test_any_bytes_are_judged_and_always_the_same_way(body: bytes, content_type: str, url: str) -> None:
    page = Page(200, content_type, body, url)
    assert judge(page) == judge(page)
