"""Fairness, submit, schedule: scenario 27, over HTTP through two instances, on a real broker with a real decider."""

import asyncio

from services.decider.past import state_at
from services.runtime.policy import policy_of
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.integration.api.test_on_the_broker import decided, two_instances

POSTS = 20
KEY_BYTES = 16
__all__ = ["decided"]  # a fixture


async def test_27_20_parallel_posts_with_one_key_make_one_job_and_another_body_is_refused(decided: Settings) -> None:
    async with two_instances(decided) as instances:
        headers = {"Idempotency-Key": "order-1"}
        body = {"url": "https://shop.example/1"}
        made = await asyncio.gather(
            *(instances[number % 2].post("/api/v1/jobs", json=body, headers=headers) for number in range(POSTS))
        )
        assert sorted(answer.status for answer in made) == [200] * (POSTS - 1) + [201]
        assert len({await answer.text() for answer in made}) == 1
        other = await instances[1].post("/api/v1/jobs", json={"url": "https://shop.example/2"}, headers=headers)
        assert (other.status, (await other.json())["error"]) == (409, "idempotency_conflict")
        later = await instances[0].post("/api/v1/jobs", json=body)  # without the key: what came before it is recorded
        partition, _, position = later.headers["Ledger-Position"].partition(":")
        told = (await made[0].json())["jobId"], (await later.json())["jobId"]
    ledger = await asyncio.to_thread(
        state_at, decided, int(partition), decoder(decided), policy_of(decided), int(position)
    )
    assert tuple(ledger.jobs) == told
    keys = [digest for _, hour in ledger.orgs["acme"].keys.by_hour() for digest in hour.places]
    assert {len(digest) for digest in keys} == {KEY_BYTES}
