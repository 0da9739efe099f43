"""`ETag` and `If-Match` of things that have versions: two editors do not overwrite each other."""

import re
from collections.abc import Callable

from aiohttp import web

from api.errors import invalid

_TAG = r'(?:W/)?"[\x21\x23-\x7e]*"'
_TAGS = re.compile(rf"{_TAG}(?:\s*,\s*{_TAG})*", re.ASCII)


def tag_of(version: int) -> str:
    """Return the ETag of a version."""
    return f'"{version}"'


def seen_already(request: web.Request, tag: str) -> bool:
    """Tell whether `If-None-Match` names a tag, by the weak comparison of RFC 9110."""
    if "If-None-Match" not in request.headers:
        return False
    given = ", ".join(request.headers.getall("If-None-Match"))
    return given.strip() == "*" or tag.removeprefix("W/") in {
        each.removeprefix("W/") for each in re.findall(_TAG, given)
    }


def wanted(request: web.Request) -> Callable[[int], bool] | None:
    """Return which newest versions `If-Match` lets through (0: there is none), or None where it is not sent.

    Weak tags match nothing: the comparison is the strong one of RFC 9110.
    """
    given = ", ".join(request.headers.getall("If-Match", ())).strip()
    if not given:
        return None
    if given == "*":
        return lambda newest: newest > 0
    if not _TAGS.fullmatch(given):
        raise invalid("If-Match", 'send the ETag as it was answered, with its quotes, as in "3", or *')
    tags = set(re.findall(_TAG, given))
    return lambda newest: tag_of(newest) in tags
