"""The Scrapy projects of these tests, packed as they are uploaded."""

import io
import tarfile
from pathlib import Path

PROJECTS = Path(__file__).parent / "projects"


def packed(project: str) -> bytes:
    """Return the archive of a project."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        tar.add(PROJECTS / project, project)
    return file.getvalue()
