"""`jobledger webhooks` and `jobledger deliveries` at a terminal, against an API whose deliveries came and failed."""

import asyncio
import json
from typing import Any

import pytest
from typer.testing import CliRunner

from services.cli.__main__ import app
from services.runtime.settings import Settings
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_deliveries import EXTRACTED, answer
from tests.integration.api.test_webhooks import make, note_attempts

URL = "https://customer.example/hook"


class Terminal:
    """A person of an org at a terminal."""

    async def said(self, *words: str, code: int = 0) -> str:
        """Run a command and return what it prints."""
        result = await asyncio.to_thread(CliRunner().invoke, app, words)
        assert result.exit_code == code, result.output
        return result.output.strip()

    async def json(self, *words: str) -> Any:
        """Run a command and return its JSON."""
        return json.loads(await self.said(*words, "--json"))


@pytest.fixture
def terminal(api: Api, acme: Tenant, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("JOBLEDGER_API", api.url)
    monkeypatch.setenv("JOBLEDGER_KEY", acme.key)
    return Terminal()


async def jobs_of(api: Api, acme: Tenant, pocket: PocketLedger, *ends: str) -> tuple[str, list[str]]:
    """An endpoint and a job for each of these ends: acked, failed, dead or waived."""
    webhook_id = (await make(api, acme, URL, eventTypes=[]))["webhookId"]
    job_ids = []
    for end in ends:
        job_ids.append(job_id := await submit(api, acme))
        pocket.extract(acme.partition, acme.org_id, job_id, EXTRACTED)
        pocket.ack(acme.partition, acme.org_id, job_id)
        if end == "acked":
            pocket.ack(acme.partition, acme.org_id, job_id, webhook_id)
        else:
            answer(pocket, acme, job_id, webhook_id, 1, error_type="http_500", retryable=end == "failed")
        if end == "waived":
            await api.call("POST", f"/api/v1/jobs/{job_id}/deliveries/{webhook_id}/waive", acme.key)
    pocket.project()
    return webhook_id, job_ids


async def generations(terminal: Terminal, pocket: PocketLedger, job_ids: list[str]) -> list[int]:
    """Return the newest generation of each job's message."""
    pocket.project()
    found = [(await terminal.json("deliveries", "list", job_id))["deliveries"] for job_id in job_ids]
    return [max(each["generation"] for each in of if each["kind"] == "webhook") for of in found]


async def test_replay_sends_once_more_what_failed_for_good_or_was_waived_and_nothing_else(
    api: Api, acme: Tenant, pocket: PocketLedger, terminal: Terminal
) -> None:
    webhook_id, job_ids = await jobs_of(api, acme, pocket, "acked", "dead", "failed", "waived", "dead")
    assert await terminal.said("webhooks", "replay", webhook_id) == "3 sent once more"
    assert await generations(terminal, pocket, job_ids) == [1, 2, 1, 2, 2]
    assert await terminal.said("webhooks", "replay", webhook_id) == "0 sent once more", "they are on their way"
    answer(pocket, acme, job_ids[1], webhook_id, 2, error_type="http_500", retryable=False)
    pocket.project()
    assert await terminal.said("webhooks", "replay", webhook_id, "--job", job_ids[4]) == "0 sent once more"
    assert await terminal.said("webhooks", "replay", webhook_id, "--job", job_ids[1]) == "1 sent once more"
    assert await generations(terminal, pocket, job_ids) == [1, 3, 1, 2, 2]


async def test_replay_of_everything_goes_by_page_and_the_same_key_sends_nothing_twice(
    api: Api, acme: Tenant, pocket: PocketLedger, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook_id, job_ids = await jobs_of(api, acme, pocket, "acked", "acked", "dead", "failed")
    for _ in range(2):
        done = await terminal.json("webhooks", "replay", webhook_id, "--all", "--idempotency-key", "k")
        assert done["replayed"] == 4
        assert await generations(terminal, pocket, job_ids) == [2, 2, 2, 2]
    later = await terminal.json("webhooks", "replay", webhook_id, "--all", "--since", "2100-01-01T00:00:00Z")
    assert later["replayed"] == 0


async def test_endpoints_are_listed_with_their_state_and_their_attempts_in_pages(
    api: Api, acme: Tenant, pocket: PocketLedger, terminal: Terminal, with_operator: Settings
) -> None:
    webhook_id, _ = await jobs_of(api, acme, pocket)
    assert await terminal.said("webhooks", "list") == f"{webhook_id}  ok         {URL}"
    await api.call("PATCH", f"/api/v1/webhooks/{webhook_id}", acme.key, {"enabled": False})
    [shown] = (await terminal.json("webhooks", "list"))["webhooks"]
    assert (shown["webhookId"], shown["state"]) == (webhook_id, "disabled")
    note_attempts(with_operator, acme, webhook_id, 3)
    first = (await terminal.said("webhooks", "attempts", webhook_id, "--limit", "2")).splitlines()
    assert [line.split()[1:] for line in first[:2]] == [
        [job_id, "job.failed", "x", "5", "ms"] for job_id in ("job-3", "job-2")
    ]
    cursor = first[2].removeprefix("more: --cursor ")
    rest = (await terminal.json("webhooks", "attempts", webhook_id, "--limit", "2", "--cursor", cursor))["attempts"]
    assert [each["jobId"] for each in rest] == ["job-1"]
    only = (await terminal.json("webhooks", "attempts", webhook_id, "--job", "job-2"))["attempts"]
    assert [each["jobId"] for each in only] == ["job-2"]


async def test_a_delivery_that_is_held_is_shown_redelivered_and_waived(
    api: Api, acme: Tenant, pocket: PocketLedger, terminal: Terminal
) -> None:
    webhook_id, [held] = await jobs_of(api, acme, pocket, "dead")
    table = await terminal.said("deliveries", "list", held)
    assert "http_500" in table
    assert "internal-postgres" in table
    ordered = await terminal.said("deliveries", "redeliver", held, webhook_id)
    assert ordered == f"redeliver: {webhook_id}, generation 2 of {held}"
    again = await terminal.said("deliveries", "redeliver", held, "nowhere", code=1)
    assert again == "there is no such destination of this job, or it belongs to another org (not_found)"
    waived = await terminal.json("deliveries", "waive", held, webhook_id)
    assert (waived["jobId"], waived["destinationId"]) == (held, webhook_id)
    pocket.project()
    job = (await api.call("GET", f"/api/v1/jobs/{held}", acme.key)).json
    assert (job["status"], job["gate"]["waived"]) == ("completed", [webhook_id])


async def test_what_is_asked_wrongly_leaves_with_one_and_says_what_to_do(terminal: Terminal) -> None:
    for words in (
        ("webhooks", "attempts", "nothing"),
        ("webhooks", "replay", "nothing"),
        ("deliveries", "list", "nothing"),
        ("deliveries", "waive", "nothing", "nowhere"),
    ):
        said = await terminal.said(*words, code=1)
        assert "no such" in said or "unknown" in said or "not_found" in said, said
