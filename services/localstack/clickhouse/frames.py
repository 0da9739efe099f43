"""Bodies of requests as they came over the wire, unpacked: every frame of them.

A client sends a frame for each block of rows. A decoder that stops behind the first frame would lose the other rows
without an error.
"""

import gzip
import zlib
from collections.abc import Callable

import lz4.frame
from backports import zstd


class Undecodable(Exception):
    """The body is not what its Content-Encoding says, or ends before its last frame does."""


def decoded(body: bytes, encoding: str) -> bytes:
    """Return a body without its Content-Encoding ("": none)."""
    if not encoding or not body:
        return body
    decode = DECODERS.get(encoding)
    if decode is None:
        raise Undecodable(f"Content-Encoding {encoding} is not known here: use lz4, zstd, gzip or deflate")
    try:
        return decode(body)
    except (RuntimeError, EOFError, OSError, zlib.error, zstd.ZstdError) as error:
        raise Undecodable(f"the body is no whole {encoding}: {error}") from error


def _every_lz4_frame(body: bytes) -> bytes:
    parts = []
    while body:
        frame = lz4.frame.LZ4FrameDecompressor()
        parts.append(frame.decompress(body))
        if not frame.eof:
            raise EOFError("the last frame is cut off")
        body = frame.unused_data or b""
    return b"".join(parts)


DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "lz4": _every_lz4_frame,
    "zstd": zstd.decompress,  # goes on to the last frame
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
}
