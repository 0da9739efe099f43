"""Calls of BigQuery's REST API with a token, and what their errors mean.

BigQuery names the reason of every error ("Error messages" in its documentation); what it says beside it may quote data,
so nothing but the reason is told to anybody.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from yarl import URL

from services.writers.warehouses.bigquery.tokens import Tokens
from services.writers.warehouses.calls import Answer, Calls
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

UNAUTHORIZED, NOT_FOUND, CONFLICT, PRECONDITION_FAILED, TOO_MANY_REQUESTS = 401, 404, 409, 412, 429
LATER = frozenset(  # reasons that pass
    {
        "backendError",
        "internalError",
        "jobBackendError",
        "jobInternalError",
        "jobRateLimitExceeded",
        "quotaExceeded",
        "rateLimitExceeded",
        "resourceInUse",
        "resourcesExceeded",
        "stopped",
        "tableUnavailable",
        "timeout",
    }
)
REASON = re.compile(r"[A-Za-z]{1,64}")
ADVICE = {
    "accessDenied": "grant the service account Data Editor on the dataset and BigQuery Job User on the project",
    "authError": "the service account's token is not taken: give a new key",
    "billingNotEnabled": "enable billing of the project: statements that change rows need it",
    "billingTierLimitExceeded": "raise the billing tier of the project",
    "blocked": "BigQuery has blocked the project: ask Google's support",
    "notFound": "is there such a project and dataset?",
    "responseTooLarge": "the answer was too large",
}


class Fault(msgspec.Struct, frozen=True):
    """An error as BigQuery writes it, of a call or of a job."""

    reason: str = ""
    message: str = ""  # may quote data
    location: str = ""


class _Errors(msgspec.Struct):
    errors: list[Fault] = []


class _Failed(msgspec.Struct):
    error: _Errors = msgspec.field(default_factory=_Errors)


class Rest:
    """Speaks with one endpoint for one service account."""

    def __init__(self, endpoint: str, tokens: Tokens, calls: Calls) -> None:
        self._endpoint = URL(endpoint)
        self._tokens = tokens
        self._calls = calls

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.close()

    async def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send JSON to a path behind the endpoint; return the answer unless `send` raises for its status."""
        url = self._endpoint.joinpath(*path.split("/")).with_query(query)
        return await self.send(method, url, {"Content-Type": "application/json", **(headers or {})}, _json(body))

    async def upload(self, project: str, job: Mapping[str, Any], data: bytes) -> Answer:
        """Insert a job with the rows that it loads, as a resumable upload in one piece."""
        url = self._endpoint.joinpath("upload", "bigquery", "v2", "projects", project, "jobs")
        headers = {
            "Content-Type": "application/json; charset=UTF-8",
            "X-Upload-Content-Type": "application/octet-stream",
            "X-Upload-Content-Length": str(len(data)),
        }
        begun = await self.send("POST", url.with_query(uploadType="resumable"), headers, _json(job))
        place = begun.headers.get("Location", "")
        if begun.status != 200 or not place:
            return begun
        ended = await self.send("PUT", URL(place), {"Content-Type": "application/octet-stream"}, data)
        if ended.status == NOT_FOUND:
            raise DestinationDown("BigQuery has forgotten an upload")  # its job may have begun: its name tells
        return ended

    async def send(self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """Send with a token, once more with a new one where it was refused.

        Raises DestinationDown and Refusal; returns what is good, and 404, 409 and 412, which may be.
        """
        answer = await self._sent(method, url, headers, body)
        if answer.status == UNAUTHORIZED:
            self._tokens.forget()
            answer = await self._sent(method, url, headers, body)
        if answer.status < 300 or answer.status in (NOT_FOUND, CONFLICT, PRECONDITION_FAILED):
            return answer
        fault = fault_of(answer)
        if answer.status >= 500 or answer.status == TOO_MANY_REQUESTS or fault.reason in LATER:
            raise DestinationDown(f"BigQuery answered {answer.status} {fault.reason}")
        raise refusal_of(fault, f"HTTP {answer.status}")

    async def _sent(self, method: str, url: URL, headers: Mapping[str, str], body: bytes | None) -> Answer:
        bearer = {"Authorization": f"Bearer {await self._tokens.get()}"}
        return await self._calls.call(method, url, headers={**headers, **bearer}, body=body)


def fault_of(answer: Answer) -> Fault:
    """Return the first error of an answer; an empty one where a proxy answered, or nobody that we know."""
    try:
        errors = msgspec.json.decode(answer.body, type=_Failed).error.errors
    except msgspec.DecodeError:
        errors = []
    return errors[0] if errors and REASON.fullmatch(errors[0].reason) else Fault()


def refusal_of(fault: Fault, what: str) -> Refusal:
    """Say to the owner of a table what BigQuery does not do, and what helps."""
    advice = ADVICE.get(fault.reason)
    return Refusal(
        f"BigQuery refuses it ({what}, {fault.reason or 'no reason given'})" + (f": {advice}" if advice else "")
    )


def _json(body: Mapping[str, Any] | None) -> bytes | None:
    return None if body is None else msgspec.json.encode(body)
