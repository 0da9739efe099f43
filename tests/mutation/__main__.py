"""Removes guards one at a time from a copy of the tree: `python -m tests.mutation [--only WORD] [--markdown]`.

Exit code 1 where a harness did not notice, or where a guard's text is not found any more.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GUARDS = Path(__file__).with_name("guards.toml")
SIMULATION = "tests.simulation --seeds 150 --until-one-fails"
HARNESS_SECONDS = 900.0


class GuardMoved(Exception):
    """The text of a guard is not where guards.toml says."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one guard."""

    guard: str
    file: str
    harness: str
    noticed: bool
    said: str
    seconds: float


def main() -> int:
    """Try the guards that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--only", default="", help="guards whose name or file has this in it")
    parser.add_argument("--markdown", action="store_true", help="print a table for the documentation")
    asked = parser.parse_args()
    guards: list[dict[str, Any]] = tomllib.loads(GUARDS.read_text())["guard"]
    verdicts = [tried(guard) for guard in guards if asked.only in guard["name"] + guard["file"]]
    if asked.markdown:
        print("| guard taken out of | what it keeps | harness | what was noticed |", "|---|---|---|---|", sep="\n")
        for each in verdicts:
            print(f"| `{each.file}` | {each.guard} | {each.harness} | {each.said if each.noticed else '**nothing**'} |")
    missed = [each.guard for each in verdicts if not each.noticed]
    print(f"{len(verdicts)} guards, {len(missed)} not missed by anybody", *missed, sep="\n  ")
    return bool(missed)


def tried(guard: dict[str, Any]) -> Verdict:
    """Take a guard out and run its harness."""
    harness = guard.get("harness", SIMULATION)
    if harness.startswith("pytest"):
        harness += " -x -rf"
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutation-") as place:
        copy = Path(place)
        copied(copy)
        file = copy / guard["file"]
        file.write_text(mutated(file.read_text(), guard))
        ran = subprocess.run(
            [sys.executable, "-m", *harness.split()], cwd=copy, capture_output=True, text=True, timeout=HARNESS_SECONDS
        )
    found = complaint(ran.stdout) if ran.returncode == 1 else ""
    name = harness.split()[1] if harness.startswith("pytest") else "simulation"
    verdict = Verdict(
        guard["name"], guard["file"], name, bool(found), found or last_line(ran), time.monotonic() - began
    )
    print("noticed" if verdict.noticed else "NOT NOTICED", f"{verdict.seconds:4.0f} s", verdict.guard, sep="  ")
    print(f"    {verdict.said}", flush=True)
    return verdict


def copied(copy: Path) -> None:
    """Copy what git tracks."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)


def mutated(text: str, guard: dict[str, Any]) -> str:
    """Replace the guard's text, which has to be there exactly once."""
    for change in (guard, *([guard["also"]] if "also" in guard else [])):
        found = text.count(change["find"])
        if found != 1:
            raise GuardMoved(
                f"{guard['name']}: its text is {found} times in {guard['file']}; bring guards.toml up to date"
            )
        text = text.replace(change["find"], change["put"])
    return text


def complaint(output: str) -> str:
    """Return the first thing that a harness complains about; empty: it does not, or it did not even begin."""
    lines = output.splitlines()
    for at, line in enumerate(lines):
        if line.startswith("seed ") and line.endswith("failed:"):
            return f"{line.removesuffix(' failed:')}: {lines[at + 1].strip()}"
        if line.startswith("FAILED "):
            return line.removeprefix("FAILED ").split(" - ")[0]
    return ""


def last_line(ran: "subprocess.CompletedProcess[str]") -> str:
    """Return the end of what a harness said."""
    return ((ran.stdout + ran.stderr).strip().splitlines() or [""])[-1]


if __name__ == "__main__":
    sys.exit(main())
