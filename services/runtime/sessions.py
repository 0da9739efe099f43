"""HTTP sessions for customers: no cookies, because they are of many orgs, and no proxies of the environment."""

import aiohttp

HEADER_BYTES, HEADERS = 8_190, 128  # of one header of an answer, and how many of them: as the client has it
NO_TIMEOUT = aiohttp.ClientTimeout(total=None)  # each call has a time of its own


def session_over(
    connector: aiohttp.TCPConnector,
    *,
    timeout: aiohttp.ClientTimeout = NO_TIMEOUT,
    auto_decompress: bool = True,
    max_header_bytes: int = HEADER_BYTES,
    max_headers: int = HEADERS,
    **headers: str,
) -> aiohttp.ClientSession:
    """Open a session; it sends these headers with each call."""
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=timeout,
        auto_decompress=auto_decompress,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        trust_env=False,
        max_line_size=max_header_bytes,
        max_field_size=max_header_bytes,
        max_headers=max_headers,
    )
