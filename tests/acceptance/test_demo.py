"""`jobledger demo` and the verbs after it, as a person runs them: a stack of its own, all services, a clean stop."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.cli.demo_site import start_demo_site
from services.cli.demo_workflows import PAGE_KINDS
from tests.acceptance.commands import jobledger

JOBS = 24
PLAIN = "demo-plain"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory of a stack that only these tests use; whatever happens, the stack is stopped."""
    directory = tmp_path_factory.mktemp("demo")
    yield directory
    jobledger(directory, "down")


@pytest.fixture(scope="module")
def summary(directory: Path) -> dict[str, Any]:
    """The summary of a demo run that left its stack running."""
    return demo(directory)


def demo(directory: Path, *arguments: str) -> dict[str, Any]:
    """Run a demo that has to succeed and return its summary."""
    ran = jobledger(directory, "demo", "--jobs", str(JOBS), "--json", *arguments)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_every_kind_of_page_ends_as_expected(summary: dict[str, Any]) -> None:
    assert summary["ok"]
    assert summary["astray"] == []
    assert {kind["page"] for kind in summary["kinds"]} == {kind.name for kind in PAGE_KINDS}
    assert sum(kind["jobs"] for kind in summary["kinds"]) == summary["jobs"] == JOBS
    assert len(summary["orgs"]) == 3
    assert summary["retriedJob"]


def test_every_completed_job_was_acknowledged_and_can_be_read(summary: dict[str, Any]) -> None:
    gate = summary["gate"]
    assert gate["completed"] == gate["expected"] == gate["acked"] == gate["readable"] > 0
    assert gate["violations"] == 0


def test_log_and_read_model_agree(summary: dict[str, Any]) -> None:
    assert summary["verify"]["ok"]
    assert summary["verify"]["jobs"] == JOBS


def test_a_retried_job_is_drawn_with_its_tries(summary: dict[str, Any], directory: Path) -> None:
    job_id = summary["retriedJob"]
    org_id = next(
        org for org in summary["orgs"] if jobledger(directory, "get", job_id, "--org", org, "--json").returncode == 0
    )
    drawn = jobledger(directory, "get", job_id, "--org", org_id).stdout
    assert "try 3  200 succeeded" in drawn
    assert "waiting_retry" in drawn
    assert "gate: 1 of 1 acknowledged" in drawn


def test_a_key_of_one_org_does_not_see_the_job_of_another(summary: dict[str, Any], directory: Path) -> None:
    answers = [jobledger(directory, "get", summary["retriedJob"], "--org", org) for org in summary["orgs"]]
    assert sorted(answer.returncode for answer in answers) == [0, 1, 1]
    assert all("not_found" in answer.stderr for answer in answers if answer.returncode)


async def test_a_url_submitted_by_hand_is_waited_for_and_listed(summary: dict[str, Any], directory: Path) -> None:
    site = await start_demo_site()
    try:
        page = f"{site.base_url}/product/7"
        metadata = '{"from": "a test"}'
        options = ("--workflow", PLAIN, "--metadata", metadata, "--wait", "--json")
        ran = await asyncio.to_thread(jobledger, directory, "submit", page, *options)
    finally:
        await site.close()
    assert ran.returncode == 0, ran.stderr
    [job] = json.loads(ran.stdout)["jobs"]
    assert (job["status"], job["url"], job["metadata"]) == ("completed", page, {"from": "a test"})
    listed = json.loads(jobledger(directory, "list", "--limit", "1", "--json").stdout)
    assert [each["jobId"] for each in listed["jobs"]] == [job["jobId"]]
    refused = jobledger(directory, "cancel", job["jobId"])
    assert refused.returncode == 1
    assert "job_terminal" in refused.stderr


def test_repeating_a_submission_with_its_key_makes_no_second_job(summary: dict[str, Any], directory: Path) -> None:
    arguments = ("submit", "http://127.0.0.1:9/", "--workflow", PLAIN, "--idempotency-key", "twice")
    first, second = jobledger(directory, *arguments), jobledger(directory, *arguments)
    assert first.stdout == second.stdout != ""


def test_tail_shows_the_log_and_keeps_urls_to_itself(summary: dict[str, Any], directory: Path) -> None:
    org = summary["orgs"][0]
    shown = jobledger(directory, "tail", "--from-start", "--org", org, "--type", "JobSubmitted", "--json")
    events = [json.loads(line) for line in shown.stdout.splitlines()]
    assert len(events) == JOBS // 3
    assert all((event["event_type"], event["org_id"]) == ("JobSubmitted", org) for event in events)
    assert "private" not in events[0]
    private = jobledger(directory, "tail", "-n", "1", "--org", org, "--type", "JobSubmitted", "--private", "--json")
    assert json.loads(private.stdout)["private"]["url"].startswith("http://127.0.0.1:")


def test_a_second_demo_on_the_same_stack_works_and_stops_it(summary: dict[str, Any], directory: Path) -> None:
    again = demo(directory, "--stop")
    assert not set(again["orgs"]) & set(summary["orgs"])
    assert again["verify"]["jobs"] >= 2 * JOBS
    assert not (directory / "state.json").exists()
    status = jobledger(directory, "status", "--json")
    assert json.loads(status.stdout) == {"phase": "down", "processes": []}
