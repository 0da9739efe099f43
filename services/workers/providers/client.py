"""HTTP sessions of providers: no cookies, because pages belong to many orgs, and no time but that of each call."""

import aiohttp


def session_over(connector: aiohttp.TCPConnector, **headers: str) -> aiohttp.ClientSession:
    """Open a session; proxies of the environment are not used."""
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        trust_env=False,
    )
