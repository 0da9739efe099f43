"""Reads a Dockerfile: its stages, and what each instruction says."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

INSTRUCTION = re.compile(r"([A-Z]+)\s+(.*)", re.DOTALL)
FROM = re.compile(r"(?P<base>\S+)(?:\s+AS\s+(?P<name>\S+))?")


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction, such as RUN, and the words behind it."""

    word: str
    said: str


@dataclass(frozen=True, slots=True)
class Stage:
    """What follows one FROM; the last stage has no name."""

    base: str
    name: str
    steps: tuple[Step, ...]

    def all(self, word: str) -> list[str]:
        """Return what each instruction of this word says."""
        return [step.said for step in self.steps if step.word == word]

    def words(self, word: str) -> list[str]:
        """Return the last instruction of this word as a list: ENTRYPOINT and CMD are written as JSON."""
        said: list[str] = json.loads(self.all(word)[-1])
        return said

    def environ(self) -> dict[str, str]:
        """Return what ENV sets."""
        pairs = [pair.partition("=") for said in self.all("ENV") for pair in said.split()]
        return {name: value for name, _, value in pairs}


def stages_of(text: str) -> list[Stage]:
    """Return the stages in their order."""
    found: list[Stage] = []
    steps: list[Step] = []
    for step in _steps(text):
        if step.word == "FROM":
            match = FROM.fullmatch(step.said)
            assert match, f"not understood: FROM {step.said}"
            steps = []
            found.append(Stage(match["base"], match["name"] or "", ()))
        elif found:
            steps.append(step)
            found[-1] = Stage(found[-1].base, found[-1].name, tuple(steps))
    return found


def _steps(text: str) -> Iterator[Step]:
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for line in lines.replace("\\\n", " ").splitlines():
        if line.strip():
            match = INSTRUCTION.fullmatch(line)
            assert match, f"not understood: {line}"
            yield Step(match[1], match[2].strip())
