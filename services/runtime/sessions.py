"""HTTP sessions for customers: no cookies, because they are of many orgs, and no proxies of the environment."""

import aiohttp

NO_TIMEOUT = aiohttp.ClientTimeout(total=None)  # each call has a time of its own


def session_over(
    connector: aiohttp.TCPConnector,
    *,
    timeout: aiohttp.ClientTimeout = NO_TIMEOUT,
    auto_decompress: bool = True,
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
    )
