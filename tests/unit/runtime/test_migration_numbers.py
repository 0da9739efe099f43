"""The migrations that are shipped: each directory can be read, so that no two files have one number."""

from pathlib import Path

import pytest

from services.runtime.migrations import read_migrations

ROOT = Path(__file__).parents[3]
PACKAGES = ("schemas", "services", "projections", "api")
DIRECTORIES = sorted({path.parent for package in PACKAGES for path in (ROOT / package).rglob("migrations/*.sql")})


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_files_of_a_directory_have_each_their_own_number(directory: Path) -> None:
    assert read_migrations(directory)


def test_there_are_directories_to_look_at() -> None:
    assert len(DIRECTORIES) >= 5
