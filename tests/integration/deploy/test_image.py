"""The image, built by the steps of its Dockerfile: each process runs from it without root, on a read-only root."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from services.localstack.program import http_answers, http_get
from services.localstack.secret_file import secrets_of
from services.localstack.services import GIVEN, LOCAL_WRITERS, VERIFICATION, services_of
from services.runtime.process import BAD_SETTINGS, STOP_SECONDS
from services.runtime.settings import Settings
from tests.environ import environ_of
from tests.integration.deploy.dockerfile import Stage, stages_of
from tests.integration.deploy.layers import Layer, build, why_not

ROOT = Path(__file__).parents[3]
DOCKER = ROOT / "deploy" / "docker"
BLOBS = "file:///var/lib/jobledger/blobs"
SERVICES = [*services_of({LOCAL_WRITERS: "all"}), VERIFICATION]
NEEDED = {"projections.clickhouse": "JOBLEDGER_CLICKHOUSE", "projections.heads": "JOBLEDGER_SIGNING_KEY"}
READY_SECONDS = 240.0  # all of them start at once
LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Image:
    """What was built, and how its last stage wants to be run."""

    layer: Layer
    stage: Stage

    def start(self, argv: list[str], environ: Mapping[str, str], log: Path) -> "subprocess.Popen[bytes]":
        """Run a program of the image, as an engine does; what it says goes to a file."""
        command = self.layer.command(argv, self.stage.all("USER")[-1], self.stage.all("WORKDIR")[-1])
        given = {**self.stage.environ(), **environ}
        with log.open("wb") as output:
            return subprocess.Popen(command, env=given, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def run(self, argv: list[str], environ: Mapping[str, str], log: Path) -> tuple[int, str]:
        """Run a program to its end; return its exit code, and what it said."""
        code = self.start(argv, environ, log).wait()
        return code, log.read_text()

    def entry(self, *arguments: str) -> list[str]:
        """Return the entry point with these arguments."""
        return [*self.stage.words("ENTRYPOINT"), *arguments]

    def is_healthy(self, port: int, log: Path) -> bool:
        """Ask as the image's own health check asks."""
        *_, check = self.stage.all("HEALTHCHECK")
        argv = json.loads(check[check.index("CMD") + len("CMD") :].replace(":8080/", f":{port}/"))
        return self.run(argv, {}, log)[0] == 0


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The image of this working tree."""
    if reason := why_not():
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    directory = tmp_path_factory.mktemp("image")
    context = directory / "context"
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    for name in filter(None, subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")):
        if (ROOT / name).is_file():
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, context / name)
    stages = stages_of((DOCKER / "Dockerfile").read_text())
    return Image(build(stages, context, directory), stages[-1])


def test_the_context_is_what_the_steps_copy() -> None:
    copied = [
        source for stage in stages_of((DOCKER / "Dockerfile").read_text()) for source in copied_from_context(stage)
    ]
    ignored, *kept = [
        line for line in (DOCKER / "Dockerfile.dockerignore").read_text().splitlines() if not line.startswith("#")
    ]
    assert ignored == "*"
    assert [line for line in kept if line.startswith("!")] == [f"!{source}" for source in copied]


def copied_from_context(stage: Stage) -> Iterator[str]:
    for said in stage.all("COPY"):
        if not said.startswith("--from="):
            yield from said.split()[:-1]


def test_it_holds_what_a_process_needs_and_nothing_else(image: Image, tmp_path: Path) -> None:
    listing = (
        "from importlib.metadata import distributions as d; print(*sorted({x.name.lower() for x in d()}), sep='\\n')"
    )
    code, said = image.run(["python", "-P", "-c", listing], {}, tmp_path / "log")
    assert code == 0, said
    installed = {re.sub(r"[-_.]+", "-", name) for name in said.split()}
    assert installed == {each.name for each in pinned(DOCKER / "requirements.lock")} | {"jobledger"}


def test_its_versions_are_those_that_the_tests_run_with() -> None:
    tested = {str(each) for each in pinned(ROOT / "requirements.lock")}
    for lock in ("requirements.lock", "build.lock"):
        assert {str(each) for each in pinned(DOCKER / lock)} <= tested


def pinned(lock: Path) -> Iterator[Requirement]:
    """Yield what a lock file installs on this system, without markers."""
    for line in lock.read_text().splitlines():
        if "==" in line:
            requirement = Requirement(line.removesuffix("\\"))
            if requirement.marker is None or requirement.marker.evaluate():
                requirement.marker = None
                yield requirement


def test_it_runs_without_root_and_can_write_nowhere_but_to_tmp_and_its_volume(image: Image, tmp_path: Path) -> None:
    places = "/ /opt/jobledger /usr/local/bin /var/lib /tmp /var/lib/jobledger/blobs"
    probe = f"id -u; id -G; for each in {places}; do touch $each/x && echo $each; done"
    _, said = image.run(["sh", "-c", probe], {}, tmp_path / "log")
    assert [line for line in said.splitlines() if not line.startswith("touch")] == [
        "10001",
        "10001",
        "/tmp",
        "/var/lib/jobledger/blobs",
    ]


@pytest.mark.parametrize("module", sorted({service.arguments[-1] for service in SERVICES}))
def test_a_process_without_settings_says_which_are_missing(image: Image, module: str, tmp_path: Path) -> None:
    code, said = image.run(image.entry(module), {}, tmp_path / "log")
    assert code == BAD_SETTINGS, said
    assert "JOBLEDGER_KAFKA, JOBLEDGER_POSTGRES, JOBLEDGER_REGISTRY, JOBLEDGER_BLOBS not set" in said


@pytest.mark.parametrize(("module", "setting"), NEEDED.items())
def test_a_process_names_the_setting_that_it_alone_needs(
    image: Image, module: str, setting: str, tmp_path: Path
) -> None:
    nowhere = {"KAFKA": "127.0.0.1:9", "POSTGRES": "postgresql:///x", "REGISTRY": "http://127.0.0.1:9", "BLOBS": BLOBS}
    environ = {f"JOBLEDGER_{name}": value for name, value in nowhere.items()}
    code, said = image.run(image.entry(module), environ, tmp_path / "log")
    assert code == BAD_SETTINGS, said
    assert f"{setting} not set" in said


def test_every_process_gets_ready_and_stops_in_time(image: Image, settings: Settings, tmp_path: Path) -> None:
    secrets = secrets_of(tmp_path / "secrets", {})
    known = {f"JOBLEDGER_{name.upper()}": getattr(secrets, name) for name in GIVEN}
    common = {name: value for name, value in environ_of(settings).items() if name not in known} | {
        "JOBLEDGER_BLOBS": BLOBS
    }
    code, said = image.run(image.entry("services.cli", "prepare"), common, tmp_path / "prepare")
    assert (code, "topics and the schemas in Postgres are as this version needs them" in said) == (0, True), said
    with running(image, {**common, **known}, tmp_path) as started:
        for service, (process, port) in started.items():
            wait_ready(service, process, port, tmp_path)
        api = started["api"][1]
        assert image.is_healthy(api, tmp_path / "check")
        assert not image.is_healthy(free_port(), tmp_path / "check")
        for process, _ in started.values():
            process.send_signal(signal.SIGTERM)
        codes = {service: process.wait(STOP_SECONDS * 3) for service, (process, _) in started.items()}
    assert codes == dict.fromkeys(codes, 0), said_by(codes, tmp_path)


@contextmanager
def running(image: Image, environ: Mapping[str, str], logs: Path) -> Iterator[dict[str, tuple[Any, int]]]:
    """Run every process; in the end none is left."""
    started: dict[str, tuple[Any, int]] = {}
    try:
        for service in SERVICES:
            port = free_port()
            own = {**environ, **dict(service.settings), "JOBLEDGER_HOST": "127.0.0.1", "JOBLEDGER_PORT": str(port)}
            process = image.start(image.entry(service.arguments[-1]), own, logs / f"{service.name}.log")
            started[service.name] = (process, port)
        yield started
    finally:
        for process, _ in started.values():
            process.kill()
            process.wait()


def wait_ready(service: str, process: Any, port: int, logs: Path) -> None:
    """Return once the process is ready."""
    deadline = time.monotonic() + READY_SECONDS
    while not http_answers(port, "/ready"):
        assert process.poll() is None, said_by([service], logs)
        assert time.monotonic() < deadline, f"{http_get(port, '/ready')} {said_by([service], logs)}"
        time.sleep(LOOK_SECONDS)


def said_by(services: Iterable[str], logs: Path) -> str:
    """Return the ends of these logs."""
    return "\n".join(f"{name}: {(logs / f'{name}.log').read_text()[-2000:]}" for name in services)


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
