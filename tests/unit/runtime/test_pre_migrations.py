"""A migration `pre` runs while the old code still works: it takes nothing away from it and asks nothing new of it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = [
    "projections/postgres/migrations",
    "projections/clickhouse/bookkeeping",
    "api/config/migrations",
    "services/runtime/shredding/migrations",
    "services/writers/postgres/migrations",
    "services/writers/webhook/migrations",
]
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*_pre_*.sql"))]
TAKES_AWAY = re.compile(
    r"DROP (?:TABLE|COLUMN|VIEW|SCHEMA|FUNCTION)|TRUNCATE|RENAME (?:COLUMN|CONSTRAINT)|"
    r"ALTER COLUMN \w+ (?:SET NOT NULL|DROP DEFAULT|(?:SET DATA )?TYPE)"
)
RENAMED = re.compile(r"ALTER TABLE (?:\w+\.)?(\w+) RENAME TO")
ADDED = re.compile(r"ADD COLUMN (?:IF NOT EXISTS )?(\w+)\s+([^;,]*)")


def problems(text: str) -> list[str]:
    """Return what in a migration old code would stumble over."""
    said = re.sub(r"--.*", "", text)
    found = TAKES_AWAY.findall(said)
    found += [name for name in RENAMED.findall(said) if f"CREATE VIEW {name} AS" not in said]
    return found + [name for name, rest in ADDED.findall(said) if "NOT NULL" in rest and "DEFAULT" not in rest]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_old_code_goes_on_beside_it(path: Path) -> None:
    assert problems(path.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE jobs DROP COLUMN domain;",
        "ALTER TABLE jobs ADD COLUMN size bigint NOT NULL;",
        "ALTER TABLE jobs ADD COLUMN a int NOT NULL DEFAULT 0, ADD COLUMN b int NOT NULL CHECK (b > 0);",
        "ALTER TABLE config.orgs RENAME TO tenants;",
        "ALTER TABLE jobs\n    ALTER COLUMN domain SET NOT NULL;",
    ],
)
def test_what_old_code_would_stumble_over_is_seen(text: str) -> None:
    assert len(problems(text)) == 1
