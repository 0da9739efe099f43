"""Runs a program over hostile pages, in one process with limits of CPU time and memory."""

import json
import resource
import subprocess
import sys
from collections.abc import Mapping
from typing import Any


def told_within(program: str, pages: Mapping[str, Any], *, cpu_seconds: int, memory_bytes: int) -> dict[str, Any]:
    """Return what a program tells of each page; AssertionError where one of them was too hard.

    It reads the pages by name as JSON, and writes a line for each as soon as it is done: a JSON list of name and what
    it has to tell.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))

    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(pages).encode(),
        preexec_fn=limit,
        capture_output=True,
        check=False,
    )
    told = dict(map(json.loads, done.stdout.splitlines()))
    assert list(told) == list(pages), done.stderr[-500:]  # the first that is not there was too hard
    assert done.returncode == 0, done.stderr[-500:]
    return told
