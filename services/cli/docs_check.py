"""Checks the documentation: `python -m services.cli.docs_check [--write]` exits 1 and names what is wrong.

Generated pages are current, links between pages lead somewhere, the README names every dependency, and no page names a
path of somebody's machine. With `--write` generated pages are renewed first.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from services.cli.docs_pages import ROOT, pages

LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home)/\w+")
REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")


def problems() -> Iterator[str]:
    """Yield everything that is wrong, each with what to do."""
    for path, text in pages().items():
        if not path.exists() or path.read_text() != text:
            yield f"{path.relative_to(ROOT)} is not current: run `python -m services.cli.docs_check --write`"
    for page in documents():
        yield from page_problems(page, page.read_text())
    yield from unnamed_dependencies((ROOT / "README.md").read_text(), (ROOT / "pyproject.toml").read_text())


def documents() -> list[Path]:
    """Return every Markdown page of the project."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def page_problems(page: Path, text: str) -> Iterator[str]:
    """Yield broken links and machine paths of one page."""
    for target in LINK.findall(text):
        if not (page.parent / target).exists():
            yield f"{page.name} links to {target}, which is not there"
    for found in MACHINE_PATH.findall(text):
        yield f"{page.name} names {found}, a path of somebody's machine: take it out"


def unnamed_dependencies(readme: str, pyproject: str) -> Iterator[str]:
    """Yield the dependencies that the README's table does not name."""
    project = tomllib.loads(pyproject)["project"]
    required = [
        *project["dependencies"],
        *(line for group in project["optional-dependencies"].values() for line in group),
    ]
    for line in required:
        match = REQUIREMENT.match(line)
        if match and f"`{match.group()}`" not in readme:
            yield f"README.md does not name the dependency {match.group()}: add it to the table with its reason"


def main(arguments: list[str]) -> int:
    """Renew pages if asked to, then print every problem on stderr; 0 if there is none."""
    if "--write" in arguments:
        for path, text in pages().items():
            path.write_text(text)
    found = list(problems())
    for problem in found:
        sys.stderr.write(f"{problem}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
