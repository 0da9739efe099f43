"""Runs helm on the chart."""

import subprocess

from tests.unit.deploy.tools import HELM, ROOT, needed

CHART = ROOT / "deploy" / "helm" / "jobledger"


def helm(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run helm."""
    needed()
    return subprocess.run(
        (str(HELM), *words), capture_output=True, text=True, check=False, env={"HOME": "/nonexistent"}
    )


def values(name: str) -> str:
    return str(CHART / "ci" / f"{name}.yaml")
