"""The rows of extractions as verification reads them: those in Postgres in its snapshot, those in ClickHouse."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client

from projections.postgres.rows import JobKey
from projections.verification.expected import Columns, read_json
from projections.verification.results import Asked
from projections.verification.snapshot import Snapshot
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("clickhouse.sql"))


class PostgresResults:
    """Rows of the internal destination."""

    place = "extraction.extraction_results"
    kind = "postgres"

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._there = snapshot.has_results()

    def of(self, jobs: Sequence[JobKey]) -> Iterable[Columns]:
        """Return the rows of these jobs."""
        return self._snapshot.results(jobs) if self._there else ()

    def every(self) -> Iterable[Asked]:
        """Return what each row says that it is."""
        return self._snapshot.result_keys() if self._there else ()


class ClickHouseResults:
    """Rows of destinations in ClickHouse: of each job and destination the newest generation."""

    place = "clickhouse extraction_results"
    kind = "clickhouse"

    def __init__(self, client: Client) -> None:
        self._client = client
        self._there = bool(client.command("EXISTS TABLE extraction_results"))

    def of(self, jobs: Sequence[JobKey]) -> Iterator[Columns]:
        """Return the rows of these jobs."""
        if not self._there:
            return
        wanted = set(jobs)
        parameters = {"orgs": tuple({org for org, _ in jobs}), "jobs": tuple(job for _, job in jobs)}
        answer = self._client.query(SQL["results"], parameters=parameters)
        for values in answer.result_rows:
            row: dict[str, Any] = dict(zip(answer.column_names, values, strict=True))
            if (row["org_id"], row["job_id"]) in wanted:
                yield row | {"normalized": _json(row["normalized"])}

    def every(self) -> Iterator[Asked]:
        """Return what each row says that it is."""
        if self._there:
            with self._client.query_rows_stream(SQL["result_keys"]) as rows:
                yield from rows


def _json(text: str) -> Any:
    """Return what a text says, or the text where somebody made it no JSON."""
    try:
        return read_json(text)
    except ValueError:
        return text
