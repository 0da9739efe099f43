"""What BigQuery takes, as "Quotas and limits" of its documentation has it; tests may make it less."""

from collections import Counter
from dataclasses import dataclass, field

from tests.fakes.warehouses.bigquery.shapes import Job


@dataclass
class Limits:
    """Of one day."""

    row_bytes: int = 100_000_000  # of newline-delimited JSON
    loads_of_table: int = 1500
    loads: int = 100_000  # of the project
    query_bytes: int = 1_000_000  # of the text of a query, before views are put in
    request_bytes: int = 10_000_000  # of a query with its parameters
    columns: int = 10_000
    _loaded: Counter[str] = field(default_factory=Counter)  # jobs, by table

    def exceeded(self, job: Job, request: bytes) -> str:
        """Return the reason that a job ends with; empty: it is within all of these. What fails counts, too."""
        if load := job.configuration.load:
            table = load.destination_table.table_id
            self._loaded[table] += 1
            if self._loaded[table] > self.loads_of_table or self._loaded.total() > self.loads:
                return "quotaExceeded"
        if (query := job.configuration.query) and (
            len(request) > self.request_bytes or len(query.query.encode()) > self.query_bytes
        ):
            return "responseTooLarge"
        return ""

    def too_large(self, rows: bytes) -> int | None:
        """Return the position of the first row that is too large, or None."""
        position = 0
        for line in rows.split(b"\n"):
            if len(line) > self.row_bytes:
                return position
            position += len(line) + 1
        return None
