"""Log lines are JSON objects, and no secret survives in them."""

import asyncio
import json
import logging
import sys
from typing import Any

import pytest

from services.runtime.logs import JsonLines, about, note, setup, without_secrets
from services.runtime.settings import Settings

KEY = "jlk_4f9a_Zm9vYmFyLXNlY3JldA"


def line_of(message: str, *args: object, exc_info: Any = None, **extra: object) -> dict[str, Any]:
    """Return one log line, read back."""
    logger = logging.getLogger("services.test")
    record = logger.makeRecord(logger.name, logging.INFO, "f.py", 1, message, args, exc_info, extra=extra)
    line: dict[str, Any] = json.loads(JsonLines("decider", ("operator-secret",)).format(record))
    return line


def test_a_line_holds_time_level_service_message_and_the_extra_ids() -> None:
    line = line_of("batch of %d decided", 7, partition=3, org_id="acme")
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info",
        "service": "decider",
        "logger": "services.test",
        "message": "batch of 7 decided",
        "partition": 3,
        "org_id": "acme",
    }


def test_an_exception_stays_within_its_line() -> None:
    try:
        raise ValueError("broken\nin two")
    except ValueError:
        line = line_of("failed", exc_info=sys.exc_info())
    assert "ValueError: broken\nin two" in line["error"]


def test_what_json_does_not_know_is_written_as_text() -> None:
    assert line_of("x", error_object=ValueError("no"), parts={1: "a"})["error_object"] == "no"


def test_a_line_is_not_lost_for_what_no_json_text_can_hold() -> None:
    line = line_of("odd \udcff text", big=1 << 70, parts={("a", 1): "b", "c": "\ud800"})
    assert (line["message"], line["big"], line["parts"]["c"]) == ("odd \udcff text", 1 << 70, "\ud800")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"key {KEY} refused", KEY.rpartition("_")[2]),
        (f"sk_{'0f' * 8}_s3cr3t was sent", "s3cr3t"),
        (f"Authorization: Bearer {KEY}", KEY.rpartition("_")[2]),
        ("connect postgresql://jobledger:s3cr3t@127.0.0.1:5432/db", "s3cr3t"),
        ("registry https://user:s3cr3t@registry.example/", "s3cr3t"),
        ("host=127.0.0.1 password=s3cr3t dbname=x", "s3cr3t"),
        ("host=127.0.0.1 password = 's3cr3t with space'", "s3cr3t"),
        ("Authorization: Bearer eyJhbGciOi.s3cr3t", "s3cr3t"),
        ("the key operator-secret was used", "operator-secret"),
    ],
)
def test_secrets_are_blanked_in_messages_extras_and_tracebacks(text: str, secret: str) -> None:
    assert secret not in json.dumps(line_of(text))
    assert secret not in json.dumps(line_of("%s", text))
    assert secret not in json.dumps(line_of("x", detail={"inner": [text]}))
    try:
        raise ValueError(text)
    except ValueError:
        assert secret not in json.dumps(line_of("x", exc_info=sys.exc_info()))


def test_what_only_looks_like_a_url_with_userinfo_stays_readable() -> None:
    assert line_of("GET http://127.0.0.1:80/a@b")["message"] == "GET http://127.0.0.1:80/a@b"


def test_setup_sends_every_logger_to_stderr_without_the_operator_key(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        setup(Settings(kafka="", postgres="", registry="", blobs="", operator_key="op-key-1"), "api")
        logging.getLogger("anywhere").info("used op-key-1", extra={"n": 1})
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.captureWarnings(capture=False)
    line = json.loads(capsys.readouterr().err)
    assert (line["service"], line["message"], line["n"]) == ("api", "used ***", 1)


def test_lines_carry_the_ids_of_what_is_being_worked_on_and_lose_them_after_it() -> None:
    with about(org_id="acme", job_id="job-1"):
        with about(attempt=2):
            note(partition=7)
            line = line_of("node visited", job_id="job-2")
            assert (line["org_id"], line["attempt"], line["partition"]) == ("acme", 2, 7)
            assert line["job_id"] == "job-2", "what the line itself says counts"
        assert "attempt" not in line_of("again")
        assert "partition" not in line_of("again")
    assert "org_id" not in line_of("later")


async def test_ids_do_not_leak_between_tasks_and_reach_those_that_are_started_within() -> None:
    async def child() -> dict[str, Any]:
        return line_of("child")

    async def work(job_id: str) -> dict[str, Any]:
        with about(job_id=job_id):
            await asyncio.sleep(0)
            return await asyncio.create_task(child())

    lines = await asyncio.gather(work("job-1"), work("job-2"))
    assert [line["job_id"] for line in lines] == ["job-1", "job-2"]
    assert "job_id" not in line_of("outside")


@pytest.mark.parametrize(
    "text",
    [
        "PassWord = s3cret&x",
        "Für PASSWORD=s3cret",
        "pa\u017fsword=s3cret",
        "BEARER s3cret",
        "é bearer s3cret",
        "x://u:s3cret@h/",
    ],
)
def test_a_secret_is_blanked_in_capitals_too_and_beside_letters_beyond_ascii(text: str) -> None:
    assert "s3cret" not in without_secrets(text)
