"""What a module works with in one attempt: pages of the site itself, readers, the log, results of other jobs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol, TypeVar

import msgspec

from schemas.private import private_bytes
from schemas.storable import storable_text
from services.ledger.reports import Logged
from services.ledger.workflow import ServiceSettings
from services.runtime.time import utc_now
from services.workers.modules.protocol import Level, TooHard
from services.workers.providers.protocol import Fetched, FetchRequest, FetchResult, ProviderError
from services.workers.readers import PageTooHard
from services.workers.steps import Tools as StepTools

PROVIDER = "direct"
TRIES = 3
FIRST_WAIT_SECONDS = 1.0  # then twice as long
MOST_WAIT_SECONDS = 30.0
BUNDLE_CHARS = 16 * 1024  # of lines in one event
MOST_LINES = 200
LINE_CHARS = 1_000
Read = TypeVar("Read")


class OtherItems(Protocol):
    """Where results of other jobs are."""

    def of(self, org_id: str, job_id: str) -> AsyncIterator[bytes]:
        """Yield the results of a job of an org, each as JSON; ModuleFailed where there are none to be had."""


class AttemptTools:
    """The tools of one attempt; `take_lines` gives what was said since it was last asked."""

    def __init__(self, tools: StepTools, others: OtherItems, org_id: str, job_id: str, logged: int) -> None:
        self._tools = tools
        self._others = others
        self._org_id, self._job_id = org_id, job_id
        self._number = logged
        self._lines: list[dict[str, str]] = []
        self._chars = self._dropped = 0

    async def fetch(self, url: str) -> FetchResult:
        """Fetch a page; an error that may pass is waited for a few times."""
        provider = self._tools.providers.provider(PROVIDER)
        request = FetchRequest(url, ServiceSettings(), self._job_id, self._org_id)
        for number in range(TRIES):
            answer = await provider.fetch(request)
            if isinstance(answer, Fetched) or not answer.retryable or number == TRIES - 1:
                break
            wait = max(FIRST_WAIT_SECONDS * 2**number, answer.retry_after_seconds or 0.0)
            await asyncio.sleep(min(wait, MOST_WAIT_SECONDS))
        return answer if isinstance(answer, Fetched) else _storable(answer)

    async def read(self, work: Callable[[], Read]) -> Read:
        """Run work beside the others, for a limited time."""
        try:
            return await self._tools.readers.read(work)
        except PageTooHard as error:
            raise TooHard(str(error)) from error

    async def read_apart(self, work: Callable[[Callable[[str], None]], Read]) -> Read:
        """Run work in a process of its own, for a limited time."""
        try:
            return await self._tools.readers.read_apart(work)
        except PageTooHard as error:
            raise TooHard(str(error)) from error

    def log(self, level: Level, message: str) -> None:
        """Say something; what is said too fast is counted, not kept."""
        text = storable_text(message)[:LINE_CHARS]
        if len(self._lines) >= MOST_LINES or self._chars + len(text) > BUNDLE_CHARS:
            self._dropped += 1
            return
        at = utc_now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._lines.append({"level": level, "message": text, "timestamp": at})
        self._chars += len(text)

    async def items_of(self, job_id: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the results of another job."""
        async with contextlib.aclosing(self._others.of(self._org_id, job_id)) as rows:  # type: ignore[type-var]
            async for row in rows:
                yield msgspec.json.decode(row)

    def take_lines(self) -> tuple[Logged, ...]:
        """Return what was said since the last call, as a part of a report."""
        if not self._lines:
            return ()
        if self._dropped:
            note = f"{self._dropped} more lines came too fast and are not kept"
            self._lines.append({**self._lines[-1], "level": "warn", "message": note})
        said = Logged(number=self._number, lines=len(self._lines), private=private_bytes({"lines": self._lines}))
        self._number += 1
        self._lines, self._chars, self._dropped = [], 0, 0
        return (said,)


def _storable(error: ProviderError) -> ProviderError:
    return ProviderError(
        error.error_type, storable_text(error.message), error.retryable, error.status_code, error.retry_after_seconds
    )
