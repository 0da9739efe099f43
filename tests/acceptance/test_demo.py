"""`jobledger demo` and the verbs after it, as a person runs them: a stack of its own, all services, a clean stop."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.image
import pytest

from services.cli.demo_kinds import PAGE_KINDS
from services.cli.demo_receiver import DOWN_SECONDS
from services.cli.demo_site import serving
from services.localstack.state import read_state
from tests.acceptance.commands import jobledger
from tests.eventually import eventually

JOBS = 39
PLAIN = "demo-plain"
VICTIM = "projections-clickhouse"  # no job waits for it
START_SECONDS = 60.0


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory of a stack that only these tests use; whatever happens, the stack is stopped."""
    directory = tmp_path_factory.mktemp("demo")
    yield directory
    jobledger(directory, "down")


@pytest.fixture(scope="module")
def summary(directory: Path) -> dict[str, Any]:
    """The summary of a demo run that left its stack running."""
    ran = jobledger(directory, "demo", "--jobs", str(JOBS), "--json")
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def ids(summary: dict[str, Any]) -> list[str]:
    """Return the ids of the orgs of a run."""
    return [org["orgId"] for org in summary["orgs"]]


def test_every_kind_of_page_ends_as_expected(summary: dict[str, Any]) -> None:
    assert summary["ok"]
    assert summary["astray"] == []
    found = {kind["page"]: kind for kind in summary["kinds"]}
    assert set(found) == {kind.name for kind in PAGE_KINDS}
    for kind in PAGE_KINDS:
        end = {"state": kind.state, "errorType": kind.error_type, "cause": kind.cause}
        assert found[kind.name]["expected"] == end
        assert found[kind.name]["actual"] == [{"end": end, "jobs": found[kind.name]["jobs"]}]
    assert sum(kind["jobs"] for kind in summary["kinds"]) == summary["jobs"] == JOBS
    assert summary["retriedJob"]


def test_the_orgs_have_one_two_and_three_destinations(summary: dict[str, Any]) -> None:
    acme, birch, corvid = summary["orgs"]
    assert acme["destinations"] == ["internal-postgres"]
    assert sorted(birch["destinations"]) == ["clickhouse", "internal-postgres"]
    assert sorted(corvid["destinations"]) == ["clickhouse", "internal-postgres", summary["outage"]["destinationId"]]
    assert [org["jobs"] for org in summary["orgs"]] == [JOBS // 3] * 3


def test_jobs_wait_for_a_destination_that_is_down_and_are_completed_when_it_is_back(summary: dict[str, Any]) -> None:
    outage, corvid = summary["outage"], summary["orgs"][2]
    assert outage["orgId"] == corvid["orgId"]
    assert outage["seconds"] >= DOWN_SECONDS
    assert outage["waiting"] > 0
    assert outage["notNaming"] == outage["early"] == outage["left"] == []
    assert outage["refused"] > 0  # and no more than a few: an endpoint that says when to come back is left alone
    assert outage["accepted"] >= outage["waiting"]


def test_a_job_that_waited_has_the_acks_of_three_destinations(summary: dict[str, Any], directory: Path) -> None:
    org = ids(summary)[2]
    listed = jobledger(directory, "list", "--org", org, "--status", "completed", "--json")
    job_id = json.loads(listed.stdout)["jobs"][0]["jobId"]
    job = json.loads(jobledger(directory, "get", job_id, "--org", org, "--json").stdout)
    assert (job["gate"]["expected"], job["gate"]["acked"], len(job["gate"]["openedBy"])) == (3, 3, 3)
    assert job["completedAt"] > summary["outage"]["toTime"][:26]


def test_every_completed_job_was_acknowledged_and_can_be_read(summary: dict[str, Any]) -> None:
    gate = summary["gate"]
    assert gate["acked"] == gate["expected"] > gate["completed"] == gate["readable"] > 0
    assert gate["violations"] == 0


def test_log_and_read_model_agree(summary: dict[str, Any]) -> None:
    assert summary["verify"]["ok"]
    assert summary["verify"]["jobs"] == JOBS


def test_every_process_is_ready_and_was_never_restarted(summary: dict[str, Any], directory: Path) -> None:
    state = read_state(directory / "state.json")
    assert state
    found = {process["name"]: (process["state"], process["restarts"]) for process in summary["readiness"]["processes"]}
    assert found == {process.name: ("ready", 0) for process in state.processes}
    assert {"broker", "decider", "workers", "writers", "writers-webhook", "api"} <= set(found)


def test_the_picture_is_a_png_in_the_directory_of_the_stack(summary: dict[str, Any], directory: Path) -> None:
    file = Path(summary["picture"])
    assert file.parent == directory / "demo"
    assert file.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    height, width, _ = matplotlib.image.imread(file).shape
    assert (width, height) > (1000, 800)


def test_what_is_printed_holds_no_key(summary: dict[str, Any]) -> None:
    assert summary["lookNext"]
    assert "jlk_" not in json.dumps(summary)


def test_a_retried_job_is_drawn_with_its_tries(summary: dict[str, Any], directory: Path) -> None:
    job_id = summary["retriedJob"]
    org_id = next(
        org for org in ids(summary) if jobledger(directory, "get", job_id, "--org", org, "--json").returncode == 0
    )
    drawn = jobledger(directory, "get", job_id, "--org", org_id).stdout
    assert "try 3  200 succeeded" in drawn
    assert "waiting_retry" in drawn
    assert "acknowledged, opened at" in drawn


def test_a_key_of_one_org_does_not_see_the_job_of_another(summary: dict[str, Any], directory: Path) -> None:
    answers = [jobledger(directory, "get", summary["retriedJob"], "--org", org) for org in ids(summary)]
    assert sorted(answer.returncode for answer in answers) == [0, 1, 1]
    assert all("not_found" in answer.stderr for answer in answers if answer.returncode)


async def test_a_url_submitted_by_hand_is_waited_for_and_listed(summary: dict[str, Any], directory: Path) -> None:
    async with serving() as site:
        page = f"{site}/product/7"
        metadata = '{"from": "a test"}'
        options = ("--workflow", PLAIN, "--metadata", metadata, "--wait", "--json")
        ran = await asyncio.to_thread(jobledger, directory, "submit", page, *options)
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
    org = ids(summary)[1]  # the first is the one that tests above submit to
    shown = jobledger(directory, "tail", "--from-start", "--org", org, "--type", "JobSubmitted", "--json")
    events = [json.loads(line) for line in shown.stdout.splitlines()]
    assert len(events) == JOBS // 3
    assert all((event["event_type"], event["org_id"]) == ("JobSubmitted", org) for event in events)
    assert "private" not in events[0]
    private = jobledger(directory, "tail", "-n", "1", "--org", org, "--type", "JobSubmitted", "--private", "--json")
    assert json.loads(private.stdout)["private"]["url"].startswith("http://127.0.0.1:")


async def test_a_second_demo_names_a_process_that_died_meanwhile_and_stops_the_stack(
    summary: dict[str, Any], directory: Path, tmp_path: Path
) -> None:
    keys = directory / "keys.json"
    kept = keys.read_text()
    picture = tmp_path / "second.png"
    options = ("--jobs", str(JOBS), "--picture", str(picture), "--stop", "--json")
    running = asyncio.create_task(asyncio.to_thread(jobledger, directory, "demo", *options))
    await eventually(lambda: running.done() or keys.read_text() != kept, START_SECONDS)
    state = read_state(directory / "state.json")
    assert state
    victim = state.process(VICTIM)
    assert victim
    assert victim.identity
    os.kill(victim.identity.pid, signal.SIGKILL)
    ran = await running
    assert ran.returncode == 1, ran.stderr
    again = json.loads(ran.stdout)
    faulty = [process for process in again["readiness"]["processes"] if process["restarts"]]
    assert [process["name"] for process in faulty] == [VICTIM]
    assert again["astray"] == []
    assert again["verify"]["ok"]
    assert not set(ids(again)) & set(ids(summary))
    assert again["verify"]["jobs"] >= 2 * JOBS
    assert again["picture"] == str(picture)
    assert picture.exists()
    assert not (directory / "state.json").exists()
    status = jobledger(directory, "status", "--json")
    assert json.loads(status.stdout) == {"phase": "down", "processes": []}
