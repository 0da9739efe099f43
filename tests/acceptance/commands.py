"""Runs `jobledger` as a person does, on a stack directory of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

RUN_SECONDS = 240.0
REPLACED_PARTS = (
    "JOBLEDGER_KAFKA",
    "JOBLEDGER_POSTGRES",
    "JOBLEDGER_REGISTRY",
    "JOBLEDGER_BLOBS",
    "JOBLEDGER_API",
    "JOBLEDGER_KEY",
)


def jobledger(
    directory: Path, *arguments: str, more: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    """Run a command on the stack of a directory, whatever the environment of the tests names; `more` is set too."""
    environ = {name: value for name, value in os.environ.items() if name not in REPLACED_PARTS}
    return subprocess.run(
        [sys.executable, "-m", "services.cli", *arguments],
        env={**environ, **more, "JOBLEDGER_STACK_DIR": str(directory)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
