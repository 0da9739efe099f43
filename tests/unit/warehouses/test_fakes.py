"""The fakes of BigQuery and Databricks let nobody in with a wrong secret, and take no field that is not documented."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import pytest
from yarl import URL

from tests.fakes.warehouses.bigquery.server import DATASET, PROJECT, FakeBigQuery, serving
from tests.fakes.warehouses.databricks import PATH, TOKEN, WAREHOUSE_ID, DatabricksFake, running

TABLES = f"/bigquery/v2/projects/{PROJECT}/datasets/{DATASET}/tables"
JOBS = f"/bigquery/v2/projects/{PROJECT}/jobs"
TABLE = {
    "tableReference": {"projectId": PROJECT, "datasetId": DATASET, "tableId": "items"},
    "schema": {"fields": [{"name": "a", "type": "STRING"}]},
}
JOB = {
    "jobReference": {"projectId": PROJECT, "jobId": "j"},
    "configuration": {
        "query": {"query": "SELECT 1", "useLegacySql": False, "parameterMode": "NAMED", "queryParameters": []}
    },
}
STATEMENT = {"statement": "CREATE TABLE lake.results.t (a STRING)", "warehouse_id": WAREHOUSE_ID}


@pytest.fixture
async def bigquery() -> AsyncIterator[FakeBigQuery]:
    """A project for which the token `good` is good."""
    async with serving() as fake:
        fake.tokens.good.add("good")
        yield fake


async def posted(url: str, body: Mapping[str, Any], token: str) -> tuple[int, str]:
    """Return the status and the text of an answer."""
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(headers=headers) as session, session.post(url, json=body) as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize(("path", "body"), [(TABLES, TABLE), (JOBS, JOB)], ids=["tables", "jobs"])
async def test_bigquery_refuses_a_wrong_token_and_an_unknown_field_and_takes_the_rest(
    bigquery: FakeBigQuery, path: str, body: Mapping[str, Any]
) -> None:
    url = f"{bigquery.url}{path}"
    assert (await posted(url, body, "bad"))[0] == 401
    for name in body:
        for odd in ({**body, "colour": "red"}, {**body, name: {**body[name], "colour": "red"}}):
            status, said = await posted(url, odd, "good")
            assert (status, "unknown field `colour`" in said) == (400, True)
    assert (await posted(url, body, "good"))[0] == 200


async def test_bigquery_gives_no_token_for_a_claim_that_nobody_signed(bigquery: FakeBigQuery) -> None:
    for form in ({}, {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": "e30.e30.e30"}):
        async with aiohttp.ClientSession() as session, session.post(bigquery.tokens.url, data=form) as answer:
            assert answer.status == 400
    assert bigquery.tokens.given == []


async def test_databricks_refuses_a_wrong_token_and_an_unknown_field_and_takes_the_rest() -> None:
    async with running(DatabricksFake()) as fake:
        url = str(fake.url.join(URL(PATH)))
        assert (await posted(url, STATEMENT, "bad"))[0] == 403
        for odd in ({"colour": "red"}, {"parameters": [{"name": "a", "colour": "red"}]}):
            status, said = await posted(url, {**STATEMENT, **odd}, TOKEN)
            assert (status, "unknown field `colour`" in said) == (400, True)
        assert fake.statements == []
        assert (await posted(url, STATEMENT, TOKEN))[0] == 200
        async with aiohttp.ClientSession() as session, session.post(fake.url / "oidc/v1/token") as answer:
            assert answer.status == 401
