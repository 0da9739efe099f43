"""Statements of a ClickHouse server over its HTTP interface, and what its errors mean.

The interface and the codes are documented ("HTTP interface", `system.errors`). What a server says beside a code may
quote data, so nothing but the code and its name is told to anybody.
"""

import re
from collections.abc import Mapping, Sequence

import aiohttp
import msgspec
from yarl import URL

from services.writers.warehouses.calls import Answer, Calls
from services.writers.warehouses.clickhouse_customer.settings import ClickHousePassword, ClickHouseSettings
from services.writers.warehouses.piecewise import DataFault
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

# A statement ends before its answer begins, so that its status says whether it did what it should.
ALWAYS = {"wait_end_of_query": "1", "async_insert": "0", "insert_null_as_default": "0"}
# What lies in rows: they cannot be parsed or converted, or a constraint of the table does not hold.
ROWS = frozenset({6, 25, 26, 27, 38, 41, 53, 69, 70, 72, 117, 321, 349, 407, 467, 469, 691})
ADVICE = {
    81: "there is no such database: make it, or correct the destination",
    164: "the user may only read",
    192: "there is no such user",
    193: "the password is wrong",
    194: "the user needs a password",
    291: "grant the user the database",
    497: "grant the user SELECT, INSERT, ALTER, CREATE TABLE, CREATE VIEW and DROP VIEW on the database",
    516: "user or password is wrong",
}
OK = 200
LISTED = 500  # tuples in one parameter: a value in a form may have 128 KiB (`http_max_field_value_size`)
CODE_HEADER = "X-ClickHouse-Exception-Code"
CODE = re.compile(rb"Code: (\d+)\.")
NAME = re.compile(rb"\(([A-Z][A-Z0-9_]{2,63})\)")


class Server:
    """Speaks with one server as one user, in one database."""

    def __init__(self, settings: ClickHouseSettings, password: ClickHousePassword, calls: Calls) -> None:
        self._url = URL(settings.url)
        self._database = settings.database
        self._headers = {
            "X-ClickHouse-User": settings.user,
            "X-ClickHouse-Key": password.password,
        }
        self._calls = calls

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.close()

    async def command(self, statement: str, parameters: Mapping[str, str] | None = None) -> None:
        """Run a statement; raises DataFault, Refusal and DestinationDown."""
        await self._asked(statement, parameters or {})

    async def rows(self, query: str, parameters: Mapping[str, str] | None = None) -> list[list[str]]:
        """Return the rows of a query, whose columns are texts; raises as `command` does."""
        answer = await self._asked(f"{query}\nFORMAT JSONCompactEachRow", parameters or {})
        return [msgspec.json.decode(line, type=list[str]) for line in answer.body.splitlines() if line]

    async def insert(self, table: str, columns: Sequence[str], rows: bytes, token: str) -> None:
        """Insert rows, each a JSON array; a block that comes again with its token is dropped. Raises as above."""
        names = ", ".join(f"`{name}`" for name in columns)
        statement = f"INSERT INTO `{table}` ({names}) FORMAT JSONCompactEachRow"
        await self._sent({"query": statement, "insert_deduplication_token": token}, rows)

    async def _asked(self, statement: str, parameters: Mapping[str, str]) -> Answer:
        """Send statement and parameters as a form: they may be longer than a URL."""
        form = aiohttp.FormData(default_to_multipart=True)
        form.add_field("query", statement)
        for name, value in parameters.items():
            form.add_field(f"param_{name}", value)
        return await self._sent({}, form)

    async def _sent(self, said: Mapping[str, str], body: bytes | aiohttp.FormData) -> Answer:
        url = self._url.with_query({"database": self._database, **ALWAYS, **said})
        answer = await self._calls.call("POST", url, headers=self._headers, body=body)
        if answer.status == OK and CODE_HEADER not in answer.headers:
            return answer
        raise _error(answer)


def _error(answer: Answer) -> Exception:
    said = CODE.search(answer.body)
    header = answer.headers.get(CODE_HEADER, "")
    code = int(header) if header.isdecimal() else int(said[1]) if said else 0
    name = NAME.findall(answer.body)
    what = f"ClickHouse answered {answer.status}, code {code} {name[-1].decode() if name else ''}".rstrip()
    if code in ROWS:
        return DataFault(what)
    if code in ADVICE:
        return Refusal(f"{what}: {ADVICE[code]}")
    if not code and answer.status in (401, 403):
        return Refusal(f"{what}: user or password is wrong, or a proxy before the server lets nobody in")
    return DestinationDown(what)


def listed(tuples: Sequence[Sequence[str | int]]) -> tuple[str, Mapping[str, str]]:
    """Return a query of a list of tuples of texts and integers, and the parameters that it takes them from.

    As JSON, because a list of tuples is thousands of nodes to ClickHouse: 10,000 were 9 times slower to delete by.
    """
    types = ", ".join("String" if isinstance(each, str) else "Int64" for each in tuples[0])
    pieces = [tuples[first : first + LISTED] for first in range(0, len(tuples), LISTED)]
    # A parameter is read as in TSV.
    texts = [msgspec.json.encode(piece).decode().replace("\\", "\\\\") for piece in pieces]
    parameters = {f"list{number}": text for number, text in enumerate(texts)}
    parts = ", ".join(f"JSONExtract({{{name}:String}}, 'Array(Tuple({types}))')" for name in parameters)
    return f"SELECT arrayJoin(arrayConcat({parts}))", parameters
