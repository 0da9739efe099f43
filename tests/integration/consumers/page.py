"""The programs of docs/consumers.md, as they stand there."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "consumers.md"
BLOCK = re.compile(r"^```(\w+) ([\w-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs() -> dict[str, str]:
    """Return the named code blocks of the page by their names."""
    return {name: code for _, name, code in BLOCK.findall(PAGE.read_text())}
