"""The commands of docs/operations: each fenced block with its page and line, and why one cannot run here."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OPERATIONS = Path(__file__).parents[3] / "docs" / "operations"
NOT_HERE = "not here: "
FENCE = re.compile(r"^```(.*)$")


@dataclass(frozen=True, slots=True)
class Block:
    """Commands that are run together, as one script."""

    page: str
    line: int  # of its first fence
    script: str
    not_here: str = ""  # why it cannot run on the local stack

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def starts_the_stack(self) -> bool:
        """Whether it starts the local stack, for which no part of it may be named in the environment."""
        return "jobledger up" in self.script or "jobledger doctor" in self.script


def pages() -> dict[str, list[Block]]:
    """Return the blocks of every page, in their order."""
    return {path.stem: list(blocks_of(path.stem, path.read_text())) for path in sorted(OPERATIONS.glob("*.md"))}


def blocks_of(page: str, text: str) -> Iterator[Block]:
    """Yield the blocks of a page; a ValueError names one that no test would run."""
    lines: list[str] = []
    opened, said = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        fence = FENCE.match(line)
        if fence and not opened:
            opened, said, lines = number, fence[1], []
        elif fence:
            yield _block(page, opened, said, lines)
            opened = 0
        else:
            lines.append(line)
    if opened:
        raise ValueError(f"{page}:{opened}: the block has no end")


def _block(page: str, line: int, said: str, lines: list[str]) -> Block:
    language, _, rest = said.partition(" ")
    if language != "sh" or not (rest == "" or rest.startswith(NOT_HERE)) or not lines:
        raise ValueError(f"{page}:{line}: a block is ```sh, or ```sh {NOT_HERE}why; nobody would run this one")
    return Block(page, line, "\n".join(lines) + "\n", rest.removeprefix(NOT_HERE))
