"""A process leaves with the right code, and says why in one JSON line."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import services
from services.runtime.process import BAD_SETTINGS, CLEAN, FAULT

ENVIRON = {
    "JOBLEDGER_KAFKA": "127.0.0.1:9",
    "JOBLEDGER_POSTGRES": "postgresql://u:pw@127.0.0.1/x",
    "JOBLEDGER_REGISTRY": "http://127.0.0.1:9",
    "JOBLEDGER_BLOBS": "memory:///",
    "JOBLEDGER_OPERATOR_KEY": "op-secret",
}
PREAMBLE = """
import asyncio
from services.runtime.errors import SettingsError
import services
from services.runtime.process import run
"""


def start(body: str, environ: dict[str, str] = ENVIRON) -> "subprocess.Popen[str]":
    """Start a process whose main has this body."""
    program = PREAMBLE + "async def main(settings):\n" + textwrap.indent(body, "    ") + "\nrun(main, 'probe')\n"
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, list[dict[str, object]]]:
    """Return exit code, stdout and the log lines."""
    out, err = process.communicate(timeout=30)
    return process.returncode, out, [json.loads(line) for line in err.splitlines()]


def test_a_main_that_returns_leaves_with_0_and_without_a_word() -> None:
    assert ended(start("print('worked', flush=True)")) == (CLEAN, "worked\n", [])


def test_a_main_that_fails_leaves_with_1_and_one_line_without_secrets() -> None:
    code, _, [line] = ended(start("raise ValueError(settings.postgres + settings.operator_key)"))
    assert (code, line["level"], line["service"], line["message"]) == (FAULT, "critical", "probe", "process failed")
    assert "ValueError" in str(line["error"])
    assert "pw@" not in str(line)
    assert "op-secret" not in str(line)


def test_a_missing_setting_leaves_with_78_and_names_the_key() -> None:
    environ = {key: value for key, value in ENVIRON.items() if key != "JOBLEDGER_KAFKA"}
    code, _, [line] = ended(start("pass", environ))
    assert (code, line["message"]) == (BAD_SETTINGS, "bad settings")
    assert "JOBLEDGER_KAFKA" in str(line["error"])


def test_a_settings_error_inside_a_group_of_tasks_leaves_with_78() -> None:
    body = """
    async def fail():
        raise SettingsError("JOBLEDGER_PARTITIONS does not fit")
    async with asyncio.TaskGroup() as group:
        group.create_task(fail())
    """
    code, _, [line] = ended(start(textwrap.dedent(body)))
    assert (code, line["error"]) == (BAD_SETTINGS, "JOBLEDGER_PARTITIONS does not fit")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_main_cleanly(number: signal.Signals) -> None:
    body = """
    try:
        print('up', flush=True)
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        print('cleaned up', flush=True)
    """
    process = start(textwrap.dedent(body))
    assert process.stdout
    assert process.stdout.readline() == "up\n"
    process.send_signal(number)
    assert ended(process) == (CLEAN, "cleaned up\n", [])


def test_a_main_that_fails_while_it_stops_leaves_with_1() -> None:
    body = """
    try:
        print('up', flush=True)
        await asyncio.Event().wait()
    finally:
        raise ValueError('could not close')
    """
    process = start(textwrap.dedent(body))
    assert process.stdout
    assert process.stdout.readline() == "up\n"
    process.terminate()
    code, _, [line] = ended(process)
    assert code == FAULT
    assert "could not close" in str(line["error"])


def test_a_main_that_does_not_stop_is_left_behind_even_if_it_blocks_the_loop() -> None:
    body = """
    import threading
    from services.runtime import process
    process.STOP_SECONDS = 0.3
    try:
        print('up', flush=True)
        await asyncio.Event().wait()
    finally:
        threading.Event().wait(60)
    """
    process = start(textwrap.dedent(body))
    assert process.stdout
    assert process.stdout.readline() == "up\n"
    process.terminate()
    code, _, [line] = ended(process)
    assert (code, line["message"]) == (FAULT, "process did not stop in time")


def test_a_cancellation_that_no_signal_asked_for_is_a_fault() -> None:
    code, _, [line] = ended(start("raise asyncio.CancelledError"))
    assert code == FAULT
    assert "not by a signal" in str(line["error"])


def test_the_service_is_named_after_the_package_that_is_run(tmp_path: Path) -> None:
    package = tmp_path / "extractors" / "probe"
    package.mkdir(parents=True)
    (package / "__main__.py").write_text(PREAMBLE + "async def main(settings):\n    raise ValueError\nrun(main)\n")
    root = str(Path(services.__file__).parent.parent)
    environ = {**ENVIRON, "PYTHONPATH": f"{root}:{tmp_path}"}
    process = subprocess.Popen(
        [sys.executable, "-m", "extractors.probe"], env=environ, stdout=-1, stderr=-1, text=True, cwd=tmp_path
    )
    assert ended(process)[2][0]["service"] == "probe"


def test_threads_that_main_left_behind_do_not_keep_the_process() -> None:
    body = """
    import threading
    from services.runtime import process
    process.STOP_SECONDS = 0.3
    threading.Thread(target=threading.Event().wait).start()
    """
    code, _, [line] = ended(start(textwrap.dedent(body)))
    assert (code, line["message"]) == (FAULT, "process did not stop in time")
