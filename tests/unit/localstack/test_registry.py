"""The registry answers as Confluent's does and keeps what it answered."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from services.localstack.registry.app import create_app
from services.localstack.registry.store import RegistryError, open_store

Json = Any


def record(*fields: Mapping[str, object], name: str = "JobClaimed") -> str:
    return json.dumps({"type": "record", "name": name, "fields": fields})


ID = {"name": "id", "type": "string"}
NOTE = {"name": "note", "type": "string"}
NOTE_WITH_DEFAULT = {"name": "note", "type": "string", "default": ""}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "registry.jsonl"


@pytest.fixture
async def client(file: Path) -> AsyncIterator[TestClient[Any, Any]]:
    async with TestClient(TestServer(create_app(open_store(file)))) as client:
        yield client


async def register(client: TestClient[Any, Any], subject: str, schema: str) -> tuple[int, Json]:
    answer = await client.post(f"/subjects/{subject}/versions", json={"schema": schema})
    return answer.status, await answer.json()


async def get(client: TestClient[Any, Any], path: str) -> tuple[int, Json]:
    answer = await client.get(path)
    return answer.status, await answer.json()


async def test_a_schema_keeps_its_id_however_it_is_written(client: TestClient[Any, Any]) -> None:
    first = await register(client, "JobClaimed", record(ID))
    spaced = json.dumps(json.loads(record(ID)), indent=4)
    assert first == (200, {"id": 1})
    assert await register(client, "JobClaimed", spaced) == first
    assert await register(client, "Other", record(ID)) == first
    assert await register(client, "JobClaimed", record(ID, NOTE_WITH_DEFAULT)) == (200, {"id": 2})
    assert await get(client, "/schemas/ids/1") == (200, {"schema": record(ID)})
    assert await get(client, "/subjects/JobClaimed/versions") == (200, [1, 2])


async def test_a_new_version_is_readable_both_ways_with_every_earlier_one(client: TestClient[Any, Any]) -> None:
    await register(client, "JobClaimed", record(ID))
    status, body = await register(client, "JobClaimed", record(ID, NOTE))
    assert (status, body["error_code"]) == (409, 409)
    assert "note" in body["message"]
    assert (await register(client, "JobClaimed", record(ID, NOTE_WITH_DEFAULT)))[0] == 200
    # Now compatible with the latest version, but still not with the first.
    assert (await register(client, "JobClaimed", record(ID, NOTE)))[0] == 409


async def test_the_level_of_one_subject_leaves_the_others_alone(client: TestClient[Any, Any]) -> None:
    answer = await client.put("/config/JobClaimed", json={"compatibility": "NONE"})
    assert answer.status == 200
    await register(client, "JobClaimed", record(ID))
    assert (await register(client, "JobClaimed", record(NOTE)))[0] == 200
    assert await get(client, "/config") == (200, {"compatibilityLevel": "FULL_TRANSITIVE"})
    assert (await get(client, "/config/Other"))[1]["error_code"] == 40408


async def test_trying_a_schema_registers_nothing(client: TestClient[Any, Any]) -> None:
    await register(client, "JobClaimed", record(ID))
    path = "/compatibility/subjects/JobClaimed/versions/latest"
    good = await client.post(path, json={"schema": record(ID, NOTE_WITH_DEFAULT)})
    bad = await client.post(path, json={"schema": record(ID, NOTE)})
    assert (await good.json())["is_compatible"] is True
    assert (await bad.json())["is_compatible"] is False
    assert await get(client, "/subjects/JobClaimed/versions") == (200, [1])


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/associations/resources/x", 404),
        ("/schemas/ids/7", 40403),
        ("/subjects/Unknown/versions", 40401),
        ("/subjects/Unknown/versions/latest", 40401),
    ],
)
async def test_what_is_not_there_is_404_with_confluents_code(
    client: TestClient[Any, Any], path: str, code: int
) -> None:
    status, body = await get(client, path)
    assert (status, body["error_code"]) == (404, code)


@pytest.mark.parametrize("schema", ['{"type": "record"}', "no JSON", '{"type": "unknown"}'])
async def test_what_is_no_avro_schema_is_422(client: TestClient[Any, Any], schema: str) -> None:
    status, body = await register(client, "JobClaimed", schema)
    assert (status, body["error_code"]) == (422, 42201)


async def test_other_kinds_of_schema_are_refused(client: TestClient[Any, Any]) -> None:
    answer = await client.post("/subjects/s/versions", json={"schema": "{}", "schemaType": "JSON"})
    assert answer.status == 422


def test_everything_answered_is_still_there_after_a_restart(file: Path) -> None:
    store = open_store(file)
    store.register("JobClaimed", record(ID))
    store.register("Gone", record(ID, name="Gone"))
    store.delete("Gone")
    store.set_level("JobClaimed", "BACKWARD")
    again = open_store(file)
    assert again.schemas == store.schemas
    assert again.subjects == store.subjects
    assert again.level("JobClaimed") == "BACKWARD"
    assert again.register("JobClaimed", record(ID, NOTE_WITH_DEFAULT)) == 3  # ids are never given twice


def test_a_line_torn_by_a_kill_is_forgotten(file: Path) -> None:
    open_store(file).register("JobClaimed", record(ID))
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"op":"register","subj')
    assert open_store(file).register("Next", record(ID, name="Next")) == 2
    assert file.read_bytes().startswith(whole)
    assert len(open_store(file).subjects) == 2


def test_an_unknown_version_is_refused(file: Path) -> None:
    store = open_store(file)
    store.register("JobClaimed", record(ID))
    with pytest.raises(RegistryError) as refusal:
        store.version("JobClaimed", "9")
    assert refusal.value.code == 40402
