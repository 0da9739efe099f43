"""Ports, restarts, identities, logs and secrets: the small things that a supervisor rests on."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from services.localstack import child as child_module
from services.localstack.child import Child, rotate
from services.localstack.errors import StackBusy, StartFailed
from services.localstack.identity import Identity, end, identity_of, is_alive
from services.localstack.places import StackDir
from services.localstack.ports import port_for
from services.localstack.postgres import forget_dead_owner
from services.localstack.program import Program
from services.localstack.restarts import LONGEST_PAUSE_SECONDS, QUIET_SECONDS, Restarts
from services.localstack.secret_file import secrets_of
from services.localstack.supervisor import only_supervisor
from services.runtime.sealing import Sealer


def test_a_port_is_remembered_until_somebody_else_takes_it(tmp_path: Path) -> None:
    book = tmp_path / "ports.json"
    first = port_for(book, "broker")
    assert port_for(book, "broker") == first
    with socket.create_server(("127.0.0.1", first)):
        other = port_for(book, "broker")
    assert other != first
    assert port_for(book, "broker") == other
    assert port_for(book, "postgres") != other


def test_pauses_between_restarts_double_up_to_a_limit_and_are_forgotten_after_a_quiet_time() -> None:
    restarts = Restarts()
    now, pauses = 0.0, []
    for _ in range(8):
        restarts.died(now)
        died = now
        while not restarts.is_due(now):
            now += 0.25
        pauses.append(now - died)
        restarts.started(now)
    assert pauses == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, LONGEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS]
    restarts.died(now + QUIET_SECONDS + 1)
    assert restarts.is_due(now + QUIET_SECONDS + 1.25)
    assert restarts.count == 8


def test_a_pid_that_was_given_to_another_process_is_not_the_same_process() -> None:
    me = identity_of(os.getpid())
    assert me is not None
    assert is_alive(me)
    assert not is_alive(Identity(me.pid, "long ago"))
    assert end(Identity(me.pid, "long ago"), signal.SIGKILL, 1.0)  # and is never signalled


def test_a_zombie_is_not_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert identity_of(process.pid) is None


def test_a_process_that_does_not_end_when_asked_to_is_killed_with_its_group(tmp_path: Path) -> None:
    deaf = "import signal, subprocess, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    script = deaf + "p = subprocess.Popen(['sleep', '600']); print(p.pid, flush=True); p.wait()"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        grandchild = identity_of(int(process.stdout.readline()))
        identity = identity_of(process.pid)
        assert grandchild is not None
        assert identity is not None
        assert not end(identity, signal.SIGTERM, 0.2)
        assert end(grandchild, signal.SIGTERM, 5.0)
    assert not is_alive(grandchild)


def program(script: str, ready_seconds: float = 60.0) -> Program:
    return Program(
        "thing", (sys.executable, "-c", script), ready=lambda: False, port=0, endpoint="", ready_seconds=ready_seconds
    )


def test_a_program_that_ends_before_it_is_ready_fails_with_its_last_words(tmp_path: Path) -> None:
    child = Child(program("raise SystemExit('no such database')"), tmp_path / "log")
    child.start()
    with pytest.raises(StartFailed, match=r"exit code 1(?s:.*)no such database"):
        child.wait_ready()
    child.stop()


def test_a_service_that_a_busy_machine_let_down_is_started_again(tmp_path: Path) -> None:
    marker = tmp_path / "tried"
    script = f"import pathlib, sys, time; m = pathlib.Path({str(marker)!r}); n = m.exists(); m.touch(); " + (
        "print('up', flush=True) if n else sys.exit('broker silent'); time.sleep(600)"
    )
    log, told = tmp_path / "log", list[str]()
    child = Child(replace(program(script), ready=lambda: log.exists() and "up" in log.read_text()), log)
    child.start()
    child.wait_ready_patiently(told.append)
    assert told == ["thing ended before it was ready, starting it again"]
    child.stop()


@pytest.mark.parametrize(("code", "starts"), [(78, 1), (1, 3)])
def test_bad_settings_fail_at_once_and_other_faults_at_the_third_time(tmp_path: Path, code: int, starts: int) -> None:
    child = Child(program(f"print('began', flush=True); raise SystemExit({code})"), tmp_path / "log")
    child.start()
    with pytest.raises(StartFailed, match=f"exit code {code}"):
        child.wait_ready_patiently(lambda _: None)
    assert (tmp_path / "log").read_text().count("began") == starts
    child.stop()


def test_of_a_long_last_line_its_beginning_and_its_end_are_shown(tmp_path: Path) -> None:
    child = Child(program("raise SystemExit('begin' + 'x' * 5000 + 'no such database')"), tmp_path / "log")
    child.start()
    with pytest.raises(StartFailed, match=r"beginx(?s:.*)no such database") as failed:
        child.wait_ready()
    assert len(str(failed.value)) < 1000
    child.stop()


def test_a_program_that_is_not_ready_in_time_fails_and_names_its_log(tmp_path: Path) -> None:
    child = Child(program("import time; time.sleep(600)", ready_seconds=0.2), tmp_path / "log")
    child.start()
    with pytest.raises(StartFailed, match=r"not ready after 0 s; read .*log"):
        child.wait_ready()
    assert child.stop()


def test_a_log_is_rotated_and_the_program_goes_on_writing_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_module, "LOG_BYTES", 10)
    log = tmp_path / "thing.log"
    with log.open("ab", buffering=0) as output:
        for number in range(6):
            output.write(f"generation {number}".encode())
            rotate(log)
        output.write(b"now")
    assert log.read_text() == "now"
    kept = {file.name: file.read_text() for file in tmp_path.iterdir() if file != log}
    assert kept == {f"thing.log.{age}": f"generation {6 - age}" for age in (1, 2, 3)}


def test_secrets_are_made_once_and_only_their_owner_can_read_them(tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    made = secrets_of(file, {})
    assert secrets_of(file, {}) == made
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert made.operator_key not in repr(made)
    assert made.credentials_key not in repr(made)
    assert Sealer(made.credentials_key).open(Sealer(made.credentials_key).seal(b"x")) == b"x"
    given = secrets_of(file, {"JOBLEDGER_OPERATOR_KEY": "mine"})
    assert (given.operator_key, given.postgres_password) == ("mine", made.postgres_password)
    assert json.loads(file.read_text())["operator_key"] == "mine"


def test_a_pid_file_of_postgres_that_names_somebody_else_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "postmaster.pid"
    file.write_text(f"{os.getpid()}\n{tmp_path}\n")
    forget_dead_owner(tmp_path)
    assert not file.exists()


def test_a_directory_has_one_supervisor(tmp_path: Path) -> None:
    with only_supervisor(StackDir(tmp_path)), pytest.raises(StackBusy), only_supervisor(StackDir(tmp_path)):
        pass
    with only_supervisor(StackDir(tmp_path)):
        pass
