"""Saving and publishing workflows."""

from typing import Any

import msgspec

from services.ledger.workflow_reading import parsed
from services.runtime.blob import BlobStore
from services.runtime.settings import Settings
from tests.integration.api.conftest import WORKFLOW, Api, Tenant


def _renamed(name: str) -> dict[str, Any]:
    return {**WORKFLOW, "name": name}


async def test_a_saved_version_is_in_the_blob_store_under_a_key_of_its_content(
    api: Api, acme: Tenant, with_operator: Settings
) -> None:
    saved = await api.call("POST", "/api/v1/workflows", acme.key, {"document": _renamed("mine")})
    assert (saved.status, saved.json["version"], saved.json["state"]) == (201, 1, "draft")
    stored = await BlobStore(with_operator.blobs).get(saved.json["ref"])
    assert parsed(stored).name == "mine"
    assert msgspec.json.decode(stored) == saved.json["document"]


async def test_each_save_makes_a_version_and_saying_the_same_again_makes_none(api: Api, acme: Tenant) -> None:
    def body(name: str) -> dict[str, Any]:
        return {"workflowId": "w", "document": _renamed(name)}

    answers = [await api.call("POST", "/api/v1/workflows", acme.key, body(name)) for name in ("a", "a", "b", "a")]
    assert [(answer.status, answer.json["version"]) for answer in answers] == [(201, 1), (200, 1), (201, 2), (201, 3)]


async def test_one_version_is_published_at_a_time_and_an_older_one_can_come_back(api: Api, acme: Tenant) -> None:
    for name in ("a", "b"):
        body = {"workflowId": "w", "document": _renamed(name), "publish": True}
        assert (await api.call("POST", "/api/v1/workflows", acme.key, body)).json["state"] == "published"
    history = (await api.call("GET", "/api/v1/workflows/w", acme.key)).json
    assert (history["version"], history["document"]["name"]) == (2, "b")
    assert [(version["version"], version["state"]) for version in history["versions"]] == [
        (2, "published"),
        (1, "draft"),
    ]
    back = await api.call("POST", "/api/v1/workflows/w/publish", acme.key, {"version": 1})
    assert (back.status, back.json["version"], back.json["state"]) == (200, 1, "published")
    listed = (await api.call("GET", "/api/v1/workflows", acme.key)).json["workflows"]
    assert [(line["workflowId"], line["version"]) for line in listed] == [("products", 1), ("w", 1)]
    assert (await api.call("POST", "/api/v1/workflows/w/publish", acme.key, {"version": 9})).status == 404


async def test_every_fault_of_a_document_is_named(api: Api, acme: Tenant) -> None:
    document = {
        "nodes": [
            {"id": "start", "kind": "entry"},
            {"id": "fetch", "kind": "service"},
            {"id": "island", "kind": "result"},
        ],
        "edges": [{"source": "start", "target": "fetch"}, {"source": "fetch", "target": "nowhere", "on": "success"}],
    }
    refused = await api.call("POST", "/api/v1/workflows", acme.key, {"document": document})
    assert (refused.status, refused.json["error"]) == (422, "workflow_invalid")
    named = {(fault["path"], fault["code"]) for fault in refused.json["faults"]}
    assert {("document.edges[1].target", "unknown_target"), ("document.nodes[2]", "unreachable")} <= named
    assert ("document.nodes", "no_warehouse") in named


async def test_a_document_of_the_wrong_shape_or_with_a_bad_selector_is_named_too(api: Api, acme: Tenant) -> None:
    for settings, path in (
        ({"fields": [{"name": "a", "query": "div["}]}, "document.nodes[1].settings.fields[0].query"),
        ({"fields": "all"}, "document.nodes[1].settings.fields"),
    ):
        nodes = [{"id": "start", "kind": "entry"}, {"id": "read", "kind": "extractor", "settings": settings}]
        refused = await api.call("POST", "/api/v1/workflows", acme.key, {"document": {"nodes": nodes, "edges": []}})
        assert refused.status == 422
        assert path in {fault["path"] for fault in refused.json["faults"]}
