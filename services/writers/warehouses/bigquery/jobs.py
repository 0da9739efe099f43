"""Jobs of BigQuery: each is begun under a name of its own, so that begun twice it runs once, and is waited for."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from services.writers.warehouses.bigquery.rest import CONFLICT, LATER, NOT_FOUND, Fault, Rest, refusal_of
from services.writers.warehouses.bigquery.statements import NOT_STAGED
from services.writers.warehouses.calls import Answer
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

FIRST_LOOK_SECONDS, LONGEST_LOOK_SECONDS = 0.1, 2.0  # between two looks at a job
JOB_SECONDS = 300.0  # that a job is waited for before the block is tried again, which waits on
DATA = frozenset({"invalid", "invalidQuery"})  # reasons that lie in what was sent
# What transactions say, with the reason invalidQuery, that met another one, or a staging table that was made anew.
AGAIN = ("due to concurrent update", NOT_STAGED)


class JobFailed(Exception):
    """A job ended with an error that trying again does not mend, in what was sent."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(faults[0].reason)
        self.faults = faults


class JobSpent(DestinationDown):
    """A job ended with an error that passes; its name is used up, so the next try needs another one."""


class _Status(msgspec.Struct):
    state: str = ""
    errorResult: Fault | None = None  # noqa: N815  # as the API spells it
    errors: list[Fault] = []


class _Job(msgspec.Struct):
    status: _Status = msgspec.field(default_factory=_Status)


class Jobs:
    """Runs the jobs of one project. Every call raises DestinationDown and Refusal, JobSpent and JobFailed."""

    def __init__(self, rest: Rest, project: str) -> None:
        self._rest = rest
        self._project = project
        self.location = ""  # of the dataset; jobs outside of the US and EU are not found without it

    async def load(self, name: str, table: Mapping[str, str], fields: Sequence[Mapping[str, str]], rows: bytes) -> None:
        """Make rows the only ones of a table; each is JSON in a line."""
        load = {
            "destinationTable": table,
            "schema": {"fields": fields},
            "sourceFormat": "NEWLINE_DELIMITED_JSON",
            "createDisposition": "CREATE_NEVER",
            "writeDisposition": "WRITE_TRUNCATE",
            "maxBadRecords": 0,
        }
        job = {"jobReference": self._reference(name), "configuration": {"load": load}}
        await self._done(name, await self._rest.upload(self._project, job, rows))

    async def run(self, name: str, statements: str, parameters: Mapping[str, str | Sequence[str]]) -> None:
        """Run statements with parameters, each a text or an array of them."""
        query = {
            "query": statements,
            "useLegacySql": False,
            "parameterMode": "NAMED",
            "queryParameters": [_parameter(*each) for each in parameters.items()],
        }
        job = {"jobReference": self._reference(name), "configuration": {"query": query}}
        path = f"bigquery/v2/projects/{self._project}/jobs"
        await self._done(name, await self._rest.ask("POST", path, job))

    def _reference(self, name: str) -> dict[str, str]:
        place = {"location": self.location} if self.location else {}
        return {"projectId": self._project, "jobId": name, **place}

    async def _done(self, name: str, begun: Answer) -> None:
        """Wait for the end of a job that was begun just now, or before: then BigQuery says that there is one."""
        deadline = time.monotonic() + JOB_SECONDS
        pause = FIRST_LOOK_SECONDS
        if begun.status == NOT_FOUND:
            raise Refusal("BigQuery has no such project or dataset: make it, or correct the destination")
        status = _status(begun) if begun.status != CONFLICT else await self._looked(name)
        while status.state != "DONE":
            if time.monotonic() >= deadline:
                raise DestinationDown(f"a job of BigQuery has not ended after {JOB_SECONDS:g} s")
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_LOOK_SECONDS)
            status = await self._looked(name)
        if status.errorResult:
            raise _ended(status.errorResult, status.errors)

    async def _looked(self, name: str) -> _Status:
        place = {"location": self.location} if self.location else {}
        answer = await self._rest.ask("GET", f"bigquery/v2/projects/{self._project}/jobs/{name}", query=place)
        if answer.status == NOT_FOUND:
            raise DestinationDown("BigQuery does not find a job that it has begun")
        return _status(answer)


def _status(answer: Answer) -> _Status:
    try:
        return msgspec.json.decode(answer.body, type=_Job).status
    except msgspec.DecodeError as error:
        raise DestinationDown(f"BigQuery answered {answer.status} with no job") from error


def _ended(fault: Fault, faults: Sequence[Fault]) -> Exception:
    if fault.reason in LATER or fault.reason == "notFound" or any(each in fault.message for each in AGAIN):
        return JobSpent(f"a job of BigQuery ended with {fault.reason}")
    if fault.reason in DATA:
        return JobFailed([fault, *faults])
    return refusal_of(fault, "a job")


def _parameter(name: str, value: str | Sequence[str]) -> dict[str, Any]:
    if isinstance(value, str):
        return {"name": name, "parameterType": {"type": "STRING"}, "parameterValue": {"value": value}}
    kind = {"type": "ARRAY", "arrayType": {"type": "STRING"}}
    return {"name": name, "parameterType": kind, "parameterValue": {"arrayValues": [{"value": each} for each in value]}}
