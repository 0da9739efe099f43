"""A destination that is down, and what is asked about the jobs that wait for it."""

import asyncio
from collections.abc import Mapping, Sequence

import aiohttp

from api.answers import Gate, Job
from services.cli.demo_outage import Outage, ended, sit_out
from services.cli.demo_receiver import Receiver, receiving
from tests.unit.cli.jobs import job

DOWN_SECONDS = 0.3
WAITS = Gate(expected=2, acked=1, pending=["wh-1"], waived=[], opened_by=[], opened_at=None)


class Api:
    """Answers with jobs as a test has them; `later` is what they are from the second look at their states on."""

    def __init__(self, *jobs: Job, later: Mapping[str, str] | None = None) -> None:
        self._jobs = {each.job_id: each for each in jobs}
        self._later = later or {}
        self._looks = 0

    async def statuses(self, job_ids: Sequence[str]) -> Mapping[str, str]:
        self._looks += 1
        now = self._later if self._looks > 1 else {}
        return {job_id: now.get(job_id, self._jobs[job_id].status) for job_id in job_ids}

    async def jobs(self, job_ids: Sequence[str]) -> Sequence[Job]:
        return [self._jobs[job_id] for job_id in job_ids]


def waiting(job_id: str, gate: Gate = WAITS) -> Job:
    return job("extraction_done", None, job_id=job_id, gate=gate)


async def post(receiver: Receiver, message_id: str) -> tuple[int, str]:
    """Send a message; return status and Retry-After."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(receiver.url, data=b"{}", headers={"webhook-id": message_id}) as answer,
    ):
        return answer.status, answer.headers.get("Retry-After", "")


async def seen(api: Api, *job_ids: str) -> Outage:
    """Return what is found in an outage that begins with one message."""
    async with receiving(DOWN_SECONDS) as receiver:
        looking = asyncio.create_task(sit_out(receiver, api, "org-1", "wh-1", job_ids))
        await post(receiver, "m-1")
        return ended(await looking, receiver)


async def test_jobs_that_wait_and_name_the_destination_are_as_they_should_be() -> None:
    failed = job("failed", job_id="job-2", error_type="validation_failed")
    outage = await seen(Api(waiting("job-1"), failed, job("running", None, job_id="job-3")), "job-1", "job-2", "job-3")
    assert outage.ok
    assert (outage.waiting, outage.refused, outage.accepted) == (1, 1, 0)
    assert outage.seconds >= DOWN_SECONDS
    assert outage.from_time < outage.to_time


async def test_a_job_that_waits_for_something_else_is_named() -> None:
    elsewhere = Gate(expected=2, acked=1, pending=["clickhouse"], waived=[], opened_by=[], opened_at=None)
    outage = await seen(Api(waiting("job-1"), waiting("job-2", elsewhere)), "job-1", "job-2")
    assert not outage.ok
    assert outage.not_naming == ["job-2"]


async def test_a_job_that_is_completed_while_its_destination_is_down_is_named() -> None:
    outage = await seen(Api(waiting("job-1"), waiting("job-2"), later={"job-2": "completed"}), "job-1", "job-2")
    assert not outage.ok
    assert (outage.early, outage.left) == (["job-2"], ["job-2"])


async def test_an_outage_in_which_nothing_waits_is_not_as_it_should_be() -> None:
    assert not (await seen(Api(job("pending", None, job_id="job-1")), "job-1")).ok


async def test_the_receiver_is_down_until_it_is_opened_and_says_when_it_means_to_be_back() -> None:
    async with receiving(down_seconds=100) as receiver:
        assert await post(receiver, "m-1") == (503, "100")
        status, retry_after = await post(receiver, "m-2")
        assert (status, 0 < int(retry_after) <= 100) == (503, True)
        receiver.open()
        assert await post(receiver, "m-1") == (200, "")
        assert await post(receiver, "m-1") == (200, "")
        assert (receiver.refused, receiver.accepted) == (2, {"m-1"})
