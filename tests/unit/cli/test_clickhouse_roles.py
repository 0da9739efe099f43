"""`jobledger roles clickhouse` prints what ClickHouse takes: its own parser reads each statement and right."""

import json
import subprocess
import sys

import pytest

from services.cli.clickhouse_roles import SERVICES

# In a process of its own: the engine stays in the one that it was loaded into.
PARSED = """
import json, sys
import chdb
print(json.dumps([str(chdb.query(f"EXPLAIN AST {each}", "TSV")).split()[0] for each in json.load(sys.stdin)]))
"""


def parsed(statements: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PARSED]
    return subprocess.run(command, input=json.dumps(statements), capture_output=True, text=True, check=False)


def printed(*arguments: str) -> list[str]:
    command = [sys.executable, "-m", "services.cli", "roles", "clickhouse", *arguments, "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[str] = json.loads(ran.stdout)["statements"]
    return [each.rstrip(";") for each in found]


def test_clickhouse_reads_every_statement() -> None:
    ran = parsed(printed("--database", "a database", "--role", "of `{service}`"))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == ["CreateRoleQuery", "GrantQuery"] * len(SERVICES)


@pytest.mark.parametrize("right", ["SELEKT", "CREATE PLANET"])
def test_a_right_that_clickhouse_does_not_know_is_found(right: str) -> None:
    ran = parsed([f"GRANT {right} ON `jobledger`.* TO `somebody`"])
    assert "SYNTAX_ERROR" in ran.stderr


def test_who_only_reads_may_only_read() -> None:
    grants = [each for each in printed("verification", "reports") if each.startswith("GRANT")]
    assert grants == [
        f"GRANT SELECT ON `jobledger`.* TO `jobledger_{service}`" for service in ("verification", "reports")
    ]
