"""Which coding an answer gets, and which answers get none."""

import gzip
import zlib
from collections.abc import Callable

import cramjam
import pytest
from aiohttp import web
from backports import zstd

from api.compression import MIN_BYTES, THREAD_BYTES, chosen, compress


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("", ""),
        ("identity", ""),
        ("br", ""),
        ("gzip", "gzip"),
        ("gzip, deflate", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("GZIP;q=0.5, deflate;q=0.8", "deflate"),
        ("gzip;q=0", ""),
        ("*", "zstd"),
        ("zstd;q=0, *;q=0.3", "gzip"),
        ("gzip;q=x", ""),
        ("gzip;", "gzip"),
    ],
)
def test_the_coding_is_what_the_caller_likes_best(accepted: str, coding: str) -> None:
    assert chosen(accepted) == coding


@pytest.mark.parametrize("size", [MIN_BYTES, THREAD_BYTES])
@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd"])
async def test_a_compressed_answer_is_read_back_whole(coding: str, size: int) -> None:
    read: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.decompress,
        "deflate": zlib.decompress,
        "zstd": lambda data: bytes(cramjam.zstd.decompress(data)),
    }
    body = b"x" * size
    response = web.Response(body=body, content_type="application/json")
    await compress(coding, response)
    assert isinstance(response.body, bytes)
    assert len(response.body) < size / 5
    assert read[coding](response.body) == body
    assert (response.headers["Content-Encoding"], response.headers["Vary"]) == (coding, "Accept-Encoding")


async def test_one_coder_makes_a_whole_answer_of_each_body_and_none_tells_of_the_one_before() -> None:
    for body in (b"a" * MIN_BYTES, bytes(range(256)) * 8, b"a" * MIN_BYTES):
        response = web.Response(body=body, content_type="application/json")
        await compress("zstd", response)
        assert isinstance(response.body, bytes)
        assert bytes(cramjam.zstd.decompress(response.body)) == body
        assert response.body == zstd.compress(body, 3)


async def test_secrets_small_answers_pages_and_streams_are_left_as_they_are() -> None:
    big = b"x" * MIN_BYTES
    for response in (
        web.Response(body=big, content_type="application/json", headers={"Cache-Control": "no-store"}),
        web.Response(body=big[1:], content_type="application/json"),
        web.Response(body=big, content_type="text/html"),
        web.StreamResponse(headers={"Content-Type": "text/event-stream"}),
    ):
        await compress("gzip", response)
        assert "Content-Encoding" not in response.headers
