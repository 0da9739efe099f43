"""How a verb ends where a store does not do what it is asked: one line that names the store and what to do.

Postgres and ClickHouse quote rows, hosts and users in their own texts: of these only codes and first lines are told.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from services.cli.terminal import fail

UNUSABLE = 2  # exit code
AWAY = "see that it runs and that JOBLEDGER_POSTGRES names it, then run this again"
ADVICE = {  # by what a SQLSTATE begins with
    "08": AWAY,
    "25006": "it takes no writes, being in recovery or read only: name its primary in JOBLEDGER_POSTGRES",
    "28": "it refuses the user or the password of JOBLEDGER_POSTGRES",
    "3D": "the database that JOBLEDGER_POSTGRES names is not there",
    "42501": "the user of JOBLEDGER_POSTGRES lacks a right: run this as the owner of the schemas",
    "42P01": "a table is not there: apply the migrations of this version: `jobledger prepare`",
    "53": "it has no room, memory or connections left",
    "57014": "a statement was cancelled, perhaps by statement_timeout: raise it for this user, then run this again",
    "57P": AWAY,
}


@contextmanager
def stores_told(prefix: str = "", then: str = "") -> Iterator[None]:
    """End the command with UNUSABLE where a store, the broker or the stack is at fault.

    `prefix` comes before the message, `then` behind what Postgres or ClickHouse is said to be.
    """
    import psycopg
    from clickhouse_connect.driver.exceptions import ClickHouseError

    from services.localstack.errors import StackFault
    from services.runtime.errors import RuntimeFault

    try:
        yield
    except psycopg.Error as fault:
        fail(f"{prefix}{postgres_said(fault)}{then}", "store_unavailable", UNUSABLE)
    except ClickHouseError as fault:
        fail(f"{prefix}{clickhouse_said(fault)}{then}", type(fault).__name__, UNUSABLE)
    except (StackFault, RuntimeFault, OSError) as fault:
        fail(f"{prefix}{_first_line(fault)}", type(fault).__name__, UNUSABLE)


def postgres_said(fault: BaseException) -> str:
    """Return what is wrong with Postgres, without a word of its own, and what to do."""
    from services.runtime.postgres_faults import reason_of

    state = getattr(fault, "sqlstate", None) or "08"  # none: there is no connection
    advice = next((text for begins, text in ADVICE.items() if state.startswith(begins)), "its log says more")
    return f"Postgres: {reason_of(fault)}: {advice}"


def clickhouse_said(fault: BaseException) -> str:
    """Return the first line of what ClickHouse or its driver says."""
    return f"ClickHouse: {_first_line(fault)}"


def _first_line(fault: BaseException) -> str:
    return next(iter(str(fault).strip().splitlines()), "") or type(fault).__name__
