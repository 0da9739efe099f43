"""The table of extractions in ClickHouse, as its writer fills it: inserts come twice, late or unheard."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from clickhouse_connect.driver.exceptions import ClickHouseError

from services.writers.clickhouse.writer import ERASE, LEFT, TABLE
from tests.simulation.chaos import Chaos
from tests.simulation.clickhouse import Caller
from tests.simulation.rough import Rough
from tests.simulation.stores import JobKey
from tests.simulation.story import Story

LAKE = "lake"  # what the destination is called
Place = tuple[str, str, str]  # org, job, destination: the key by which rows replace each other


@dataclass(slots=True)
class Lake:
    """Rows as they were inserted, jobs that were erased, and the tokens under which inserts were taken."""

    chaos: Chaos
    rough: Rough
    rows: list[tuple[Place, int]] = field(default_factory=list)  # with its generation
    stored: dict[tuple[str, str, str, int], float] = field(default_factory=dict)  # since when, in seconds
    erased: dict[JobKey, float] = field(default_factory=dict)  # since when its writers know that it is, in seconds
    _taken: set[str] = field(default_factory=set)

    def land(self, body: bytes, token: str) -> None:
        """Take an insert, once."""
        if token in self._taken:
            return
        self._taken.add(token)
        for line in body.splitlines():
            row = json.loads(line)
            place = row["org_id"], row["job_id"], row["destination_id"]
            self.rows.append((place, row["generation"]))
            self.stored.setdefault((*place, row["generation"]), asyncio.get_running_loop().time())

    def differences(self, jobs: Mapping[str, Story]) -> Iterator[str]:
        """Compare what readers see, of each place the newest generation, with what was requested and acknowledged."""
        seen = dict(sorted(self.rows))
        for name, job in jobs.items():
            if job.gone:
                continue  # there is nothing, as `Erased` checks
            told = {at: each for (place, at), each in job.deliveries.items() if place == LAKE}
            acked = max((at for at, each in told.items() if each.ack), default=0)
            generation = seen.get((job.org_id, name, LAKE), 0)
            if generation < acked or (generation and generation not in told):
                yield f"{name}: generation {acked} is acknowledged, of {list(told)}, ClickHouse shows {generation}"

    def of_job(self, key: JobKey) -> list[tuple[Place, int]]:
        """Return the rows of a job."""
        return [row for row in self.rows if row[0][:2] == key]


class Client(Caller):
    """Stands for `clickhouse_connect`'s client, for the statements of the writer."""

    def __init__(self, lake: Lake) -> None:
        super().__init__(lake.chaos)
        self._lake = lake

    def raw_insert(self, table: str, insert_block: bytes, fmt: str, settings: dict[str, Any]) -> None:
        """Insert rows."""
        assert (table, fmt) == (TABLE, "JSONEachRow")
        self.call("destination_down_before")
        if self._lake.rough.refuses_rows():
            raise ClickHouseError("simulated: no rows are taken")
        self.land(lambda: self._lake.land(insert_block, settings["insert_deduplication_token"]))
        self.call("destination_down_after")

    def insert(self, table: str, names: Sequence[JobKey], column_names: list[str]) -> None:
        """Remember jobs that were erased."""
        assert (table, column_names) == ("erased_jobs", ["org_id", "job_id"])
        self.call("destination_down_before")
        for name in names:
            self._lake.erased.setdefault(name, asyncio.get_running_loop().time())
        self.call("destination_down_after")

    def query(self, statement: str, parameters: dict[str, Any]) -> Any:
        """Return which of these jobs were erased and have rows."""
        assert statement == LEFT
        self.call("destination_down_before")
        asked = {key for key in self._lake.erased if key[1] in parameters["job_ids"]}
        return SimpleNamespace(result_rows=sorted({row[0][:2] for row in self._lake.rows} & asked))

    def command(self, statement: str, parameters: dict[str, Any]) -> None:
        """Take away the rows of jobs."""
        assert statement == ERASE
        self.call("destination_down_before")
        self._lake.rows = [row for row in self._lake.rows if row[0][:2] not in parameters["jobs"]]
        self.call("destination_down_after")
