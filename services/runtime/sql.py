"""SQL from `.sql` files of named blocks: a line `-- name: load_jobs` begins a block, loaded once."""

from functools import cache
from pathlib import Path
from typing import LiteralString

MARK = "-- name: "


@cache
def blocks(path: Path) -> dict[str, LiteralString]:
    """Return the statements of a file by name. The texts are part of the program, hence literal."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(MARK):
            name = line.removeprefix(MARK).strip()
            found[name] = []
        elif name and not line.startswith("--"):
            found[name].append(line)
    return {name: "\n".join(lines).strip().removesuffix(";") for name, lines in found.items()}
