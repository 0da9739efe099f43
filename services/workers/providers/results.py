"""Answers that list results, one for each URL asked for: the form that Oxylabs and Decodo have in common."""

from collections.abc import Mapping

import msgspec

from services.workers.providers.dialect import HTML, JSON, MARKDOWN, Answer, bad_answer, page
from services.workers.providers.protocol import FetchResult

Content = str | dict[str, object] | list[object]  # the page, or what the provider parsed of it


class Result(msgspec.Struct):
    """One result; both APIs tell more of it than is read here."""

    content: Content | None = None
    status_code: int = 200
    url: str = ""


def page_of(provider: str, answer: Answer, result: Result | None, headers: Mapping[str, str]) -> FetchResult:
    """Return the page of the only result; `headers` are those of the site, as far as the provider tells them."""
    if result is None or result.content is None:
        return bad_answer(provider, answer, "results with content")
    if isinstance(result.content, str):
        body: bytes | str = result.content
        content_type = MARKDOWN if answer.as_markdown else headers.get("content-type", HTML)
    else:
        body, content_type = msgspec.json.encode(result.content), JSON
    return page(
        answer,
        status=result.status_code,
        body=body,
        headers=headers,
        content_type=content_type,
        final_url=result.url,
    )
