"""What a verb says of a store at fault: one line, what to do, and nothing that the store quotes."""

from typing import Any

import psycopg
import pytest
import typer
from clickhouse_connect.driver.exceptions import DatabaseError

from projections.rebuild.faults import CannotCatchUp
from services.cli.stores import UNUSABLE, stores_told

SECRET = "hunter2"


def said_of(fault: Exception, capsys: pytest.CaptureFixture[str], **words: Any) -> str:
    with pytest.raises(typer.Exit) as ended, stores_told(**words):
        raise fault
    assert ended.value.exit_code == UNUSABLE
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "advice"),
    [
        (psycopg.OperationalError, "see that it runs"),
        (psycopg.errors.ReadOnlySqlTransaction, "name its primary in JOBLEDGER_POSTGRES"),
        (psycopg.errors.QueryCanceled, "raise it for this user"),
        (psycopg.errors.DiskFull, "no room"),
        (psycopg.errors.TooManyConnections, "connections left"),
        (psycopg.errors.InvalidPassword, "refuses the user or the password"),
        (psycopg.errors.InsufficientPrivilege, "lacks a right"),
        (psycopg.errors.UndefinedTable, "apply the migrations"),
        (psycopg.errors.AdminShutdown, "see that it runs"),
        (psycopg.errors.UniqueViolation, "its log says more"),
    ],
)
def test_postgres_is_named_with_what_to_do_and_without_its_own_words(
    fault: type[psycopg.Error], advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = said_of(fault(f"connection to postgres://me:{SECRET}@host failed\nDETAIL: row ({SECRET})"), capsys)
    assert said.startswith(f"Postgres: {fault.__name__}")
    assert advice in said
    assert SECRET not in said
    assert said.count("\n") == 1


def test_of_others_the_first_line_is_told_with_what_is_so_far(capsys: pytest.CaptureFixture[str]) -> None:
    words = {"prefix": "cannot: ", "then": ": nothing was switched"}
    said = said_of(DatabaseError("Code: 60. no such table\nstack\ntrace"), capsys, **words)
    assert said == "cannot: ClickHouse: Code: 60. no such table: nothing was switched\n"
    assert said_of(CannotCatchUp("it moves on"), capsys, **words) == "cannot: it moves on\n"
    assert said_of(OSError(98, "Address already in use"), capsys) == "[Errno 98] Address already in use\n"
