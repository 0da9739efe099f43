"""Calls the API over HTTP: answers are typed, errors say what to do, and a call that got no answer is made again.

Every call made here is safe to repeat: a submission carries the same Idempotency-Key each time.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import aiohttp
import msgspec

from api import answers, config_answers, delivery_answers, schedule_answers, webhook_answers
from api.explain_answers import Explanation
from services.cli.errors import ApiRefused, ApiSilent
from services.cli.paths import path_of
from services.runtime.ids import uuid7

PATIENCE_SECONDS = 15.0  # how long a call is repeated before it is given up
PROMPT_SECONDS = 8.0  # then somebody at a terminal hears that a short call has no answer, also one under way
PAUSE_SECONDS = 0.5  # between two tries, unless the API names another time
CALL_SECONDS = 30.0
MAX_IDS = 1000  # of one batch-status call
CANNOT_NOW = 503
TOO_MANY = 429
ADVICE = {
    "unauthenticated": "set JOBLEDGER_KEY to a key of this API; on a local stack `jobledger demo` makes some",
    "forbidden": "use a key that has this scope",
}

T = TypeVar("T")


class Client:
    """One caller of one API: an async context manager over a pool of connections."""

    def __init__(
        self,
        base_url: str,
        key: str,
        patience_seconds: float = PATIENCE_SECONDS,
        within_seconds: float | None = None,  # no call takes longer, whatever becomes of what it asked
    ) -> None:
        self.base_url = base_url
        self._within_seconds = within_seconds
        self._headers = {"Authorization": f"Bearer {key}"}
        self._patience_seconds = patience_seconds
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        """Open the pool."""
        timeout = aiohttp.ClientTimeout(total=CALL_SECONDS)
        self._session = aiohttp.ClientSession(headers=self._headers, timeout=timeout)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        if self._session:
            await self._session.close()

    async def submit(
        self,
        urls: Sequence[str],
        *,
        workflow_id: str = "",
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str = "",
    ) -> list[str]:
        """Submit a job per url and return their ids in the order of the urls."""
        body: dict[str, Any] = {"urls": list(urls)}
        if workflow_id:
            body["workflowId"] = workflow_id
        if metadata is not None:
            body["metadata"] = dict(metadata)
        key = idempotency_key or uuid7()
        answer = await self.call("POST", "/api/v1/jobs", answers.SubmittedJobs, body, headers={"Idempotency-Key": key})
        return [job.job_id for job in answer.jobs]

    async def job(self, job_id: str) -> answers.Job:
        """Return everything about a job."""
        return await self.call("GET", path_of("jobs", job_id), answers.Job)

    async def explain(self, job_id: str) -> Explanation:
        """Return why a job stands where it stands."""
        return await self.call("GET", path_of("jobs", job_id, "explain"), Explanation)

    async def page(self, *, status: str = "", cursor: str = "", limit: int = 50) -> answers.Jobs:
        """Return one page of the org's jobs, newest first."""
        asked = {"status": status, "cursor": cursor, "limit": str(limit)}
        return await self.call("GET", "/api/v1/jobs", answers.Jobs, query={k: v for k, v in asked.items() if v})

    async def schedules(
        self, *, tags: Sequence[str] = (), cursor: str = "", limit: int = 50
    ) -> schedule_answers.Schedules:
        """Return one page of the org's schedules with all of these tags, newest first."""
        asked = {"tagsAll": ",".join(tags), "cursor": cursor, "limit": str(limit)}
        query = {name: value for name, value in asked.items() if value}
        return await self.call("GET", "/api/v1/schedules", schedule_answers.Schedules, query=query)

    async def trigger(self, schedule_id: str, *, idempotency_key: str = "") -> schedule_answers.Triggered:
        """Fire a schedule now."""
        path, key = path_of("schedules", schedule_id, "trigger"), idempotency_key or uuid7()
        return await self.call("POST", path, schedule_answers.Triggered, headers={"Idempotency-Key": key})

    async def deliveries(self, job_id: str) -> delivery_answers.JobDeliveries:
        """Return the deliveries of a job."""
        return await self.call("GET", path_of("jobs", job_id, "deliveries"), delivery_answers.JobDeliveries)

    async def order_delivery(self, job_id: str, destination_id: str, verb: str) -> delivery_answers.DeliveryOrder:
        """Have a job delivered once more (`redeliver`), or stop waiting for a destination (`waive`)."""
        path = path_of("jobs", job_id, "deliveries", destination_id, verb)
        return await self.call("POST", path, delivery_answers.DeliveryOrder)

    async def webhooks(self) -> webhook_answers.Webhooks:
        """Return the org's webhook endpoints."""
        return await self.call("GET", "/api/v1/webhooks", webhook_answers.Webhooks)

    async def webhook_attempts(
        self, webhook_id: str, *, job_id: str = "", cursor: str = "", limit: int = 50
    ) -> webhook_answers.WebhookAttempts:
        """Return one page of the calls to an endpoint, newest first."""
        asked = {"jobId": job_id, "cursor": cursor, "limit": str(limit)}
        query = {name: value for name, value in asked.items() if value}
        path = path_of("webhooks", webhook_id, "attempts")
        return await self.call("GET", path, webhook_answers.WebhookAttempts, query=query)

    async def replay(
        self, webhook_id: str, body: Mapping[str, Any], *, idempotency_key: str = ""
    ) -> webhook_answers.Replay:
        """Send messages to an endpoint once more, page by page, each with a key of its own; return the sums."""
        key, path = idempotency_key or uuid7(), path_of("webhooks", webhook_id, "replay")
        cursor: str | None = None
        replayed, skipped, page = 0, Counter[str](), 0
        while page == 0 or cursor:
            asked = {**body, "cursor": cursor} if cursor else body
            headers = {"Idempotency-Key": f"{key}-{page}"}
            done = await self.call("POST", path, webhook_answers.Replay, asked, headers=headers)
            replayed, cursor, page = replayed + done.replayed, done.next_cursor, page + 1
            skipped.update(done.skipped)
        return webhook_answers.Replay(replayed=replayed, skipped=dict(skipped), next_cursor=None)

    async def statuses(self, job_ids: Sequence[str]) -> dict[str, str]:
        """Return where jobs stand, by id; unknown ones are left out."""
        found: dict[str, str] = {}
        for start in range(0, len(job_ids), MAX_IDS):
            body = {"jobIds": list(job_ids[start : start + MAX_IDS])}
            answer = await self.call("POST", "/api/v1/jobs/batch-status", answers.Statuses, body)
            found |= {job.job_id: job.status for job in answer.jobs}
        return found

    async def cancel(self, job_id: str) -> answers.Cancelled:
        """Cancel a job; ApiRefused where it has ended."""
        headers = {"Idempotency-Key": uuid7()}  # a repeat of one whose answer was lost is no cancel that came too late
        return await self.call("POST", path_of("jobs", job_id, "cancel"), answers.Cancelled, headers=headers)

    async def delete(self, job_id: str) -> answers.Deleted:
        """Delete a job for good; safe to repeat, but for the answer that there is no such job."""
        return await self.call("DELETE", path_of("jobs", job_id), answers.Deleted)

    async def extraction(self, job_id: str) -> answers.ExtractionResult | None:
        """Return what the internal destination holds of a job, or None."""
        try:
            return await self.call(
                "GET", path_of("extraction", "results", job_id), answers.ExtractionResult, expect=200
            )
        except ApiRefused as refused:
            if refused.status in (202, 404):
                return None
            raise

    async def save_workflow(self, workflow_id: str, document: Mapping[str, Any]) -> config_answers.Workflow:
        """Save a workflow document and publish it."""
        body = {"workflowId": workflow_id, "document": document, "publish": True}
        return await self.call("POST", "/api/v1/workflows", config_answers.Workflow, body)

    async def register_org(
        self, org_id: str, name: str, max_in_flight: int | None = None, *, plan: str = "standard"
    ) -> config_answers.RegisteredOrg:
        """Register an org; takes the operator key."""
        body: dict[str, Any] = {"orgId": org_id, "name": name, "plan": plan}
        if max_in_flight is not None:
            body["maxInFlight"] = max_in_flight
        return await self.call("POST", "/api/v1/orgs", config_answers.RegisteredOrg, body)

    async def call(
        self,
        method: str,
        path: str,
        shape: type[T],
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        expect: int | None = None,
    ) -> T:
        """Make one call and return its answer as `shape`.

        `expect` is the one status that counts as success; any below 300 does by default. Raises ApiRefused for an
        answer that repeating does not change, ApiSilent where there was none in time.
        """
        try:
            async with asyncio.timeout(self._within_seconds):
                return await self._until_answered(method, path, shape, body, query, headers, expect)
        except TimeoutError as error:
            raise ApiSilent(
                f"the API at {self.base_url} did not answer within {self._within_seconds:g} s: see `jobledger status`; "
                "what was asked may still happen, and can be asked again"
            ) from error

    async def _until_answered(
        self,
        method: str,
        path: str,
        shape: type[T],
        body: Mapping[str, Any] | None,
        query: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
        expect: int | None,
    ) -> T:
        deadline = time.monotonic() + self._patience_seconds
        while True:
            try:
                status, data, pause = await self._once(method, path, body, query, headers)
            except (aiohttp.ClientConnectionError, TimeoutError) as error:
                if time.monotonic() >= deadline:
                    raise ApiSilent(self._silence(error)) from error
                pause = PAUSE_SECONDS
            else:
                if status == expect or (expect is None and status < 300):
                    return msgspec.json.decode(data, type=shape)
                refused = refusal(status, data)
                if status not in (CANNOT_NOW, TOO_MANY):
                    raise refused
                if time.monotonic() >= deadline:
                    raise ApiSilent(f"the API at {self.base_url} cannot answer now: {refused}: see `jobledger status`")
            await asyncio.sleep(pause)

    async def _once(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        query: Mapping[str, str] | None,
        headers: Mapping[str, str] | None,
    ) -> tuple[int, bytes, float]:
        assert self._session, "use it as a context manager"
        data = None if body is None else msgspec.json.encode(body)
        given = {**(headers or {}), **({"Content-Type": "application/json"} if data else {})}
        async with self._session.request(
            method, self.base_url + path, data=data, params=query, headers=given
        ) as response:
            asked = response.headers.get("Retry-After", "")
            pause = float(asked) if asked.isdigit() else PAUSE_SECONDS
            return response.status, await response.read(), pause

    def _silence(self, error: Exception) -> str:
        reason = str(error) or type(error).__name__
        return f"no API answers at {self.base_url} ({reason}): see `jobledger status`, or correct JOBLEDGER_API"


def refusal(status: int, data: bytes) -> ApiRefused:
    """Return the error that an answer is."""
    try:
        error = msgspec.json.decode(data, type=answers.Error)
    except msgspec.DecodeError:
        return ApiRefused(status, f"http_{status}", "the answer is none of jobledger's: is JOBLEDGER_API right?")
    field = f"{error.field}: " if isinstance(error.field, str) else ""
    advice = f"; {ADVICE[error.error]}" if error.error in ADVICE else ""
    return ApiRefused(status, error.error, f"{field}{error.message}{advice}")
