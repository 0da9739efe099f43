"""Bodies in several frames: every frame is unpacked, and a body that is cut off is refused."""

import gzip
import zlib
from collections.abc import Callable

import lz4.frame
import pytest
from backports import zstd

from services.localstack.clickhouse.frames import Undecodable, decoded

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "lz4": lz4.frame.compress,
    "zstd": zstd.compress,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
}
BLOCKS = [b"first" * 100, b"", b"second" * 5000, b"last"]


@pytest.mark.parametrize("encoding", ["lz4", "zstd", "gzip"])
def test_every_frame_of_a_body_is_unpacked(encoding: str) -> None:
    assert decoded(b"".join(map(COMPRESS[encoding], BLOCKS)), encoding) == b"".join(BLOCKS)


@pytest.mark.parametrize("encoding", sorted(COMPRESS))
def test_a_body_that_is_cut_off_is_refused(encoding: str) -> None:
    with pytest.raises(Undecodable, match=encoding):
        decoded(COMPRESS[encoding](BLOCKS[2])[:-1], encoding)


def test_a_body_without_an_encoding_stays_as_it_is() -> None:
    assert decoded(b"SELECT 1", "") == b"SELECT 1"


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(Undecodable, match="br is not known"):
        decoded(b"x", "br")
