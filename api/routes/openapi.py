"""The description of the API, made from the operations themselves."""

from collections.abc import Sequence

from aiohttp import web

from api.http import answer
from api.openapi import document
from api.operation import Call, Operation


def operation_for(described: Sequence[Operation]) -> Operation:
    """Return the call that answers the description of these operations and of itself."""

    async def openapi(call: Call) -> web.StreamResponse:
        """Answer the OpenAPI 3.1 document of this version."""
        return answer(200, document([*described, itself], call.parts.settings.spider_prefix))

    itself = Operation(
        method="GET",
        path="/api/v1/openapi.json",
        summary="Read this description",
        access="open",
        handler=openapi,
        answers={200: None},
    )
    return itself
