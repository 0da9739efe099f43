"""Bad input to the API: every row of the table of docs/errors.md, and what is sent to get it.

ROWS is the single source: each row is tried with each of its requests, and the table of the document has to be equal.
"""

import gzip
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from multidict import CIMultiDict

from services.runtime.settings import Settings
from tests.conftest import TEST_PARTITIONS, Databases
from tests.integration.api.conftest import OPERATOR, WORKFLOW, Answered, Api, make_tenant, running, submit
from tests.integration.api.pocket import PocketLedger

DOCS = Path(__file__).parents[3] / "docs" / "errors.md"
URL = "https://shop.example/1"
ACME_KEY, NO_KEY = "acme", ""
TWO_KEYS = CIMultiDict([("Idempotency-Key", "one"), ("Idempotency-Key", "one")])
TWO_CALLERS = CIMultiDict([("Authorization", "Bearer one"), ("Authorization", "Bearer other")])
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: a body of bytes goes as it is, anything else as JSON."""

    body: Any = None
    method: str = "POST"
    path: str = "/api/v1/jobs"
    key: str = ACME_KEY  # a name in the fixture `keys`, or a key itself
    headers: Mapping[str, str] = field(default_factory=dict)
    chunked_mib: int = 0  # so much blank body in chunks, without saying how much comes


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the document, and the requests that lead there."""

    what: str
    status: int
    code: str
    field: str  # "": no field is at fault
    sent: tuple[Sent, ...]


def job(**more: Any) -> Sent:
    """Return a submission of one url with something more."""
    return Sent({"url": URL, **more})


def raw(text: bytes) -> Sent:
    """Return a submission of one url with more members as they are."""
    return Sent(b'{"url":"' + URL.encode() + b'",' + text + b"}")


def urls(*bad: str) -> tuple[Sent, ...]:
    """Return submissions of each of these urls."""
    return tuple(Sent({"url": url}) for url in bad)


def at(method: str, path: str, body: Any = None, key: str = ACME_KEY) -> Sent:
    """Return a call of another path."""
    return Sent(body, method, path, key)


ROWS = (
    Row("body empty, no JSON, or not UTF-8", 400, "invalid_json", "",
        (Sent(b""), Sent(b"{"), Sent(b"\xff\xfe"), Sent(b'{"url": "\xff"}'), Sent(b"url=https://shop.example"))),
    Row("body that is JSON but no object", 400, "invalid_json", "", (Sent(b"[1]"), Sent(b'"text"'), Sent(b"null"))),
    Row("NaN, Infinity or a number that no double holds", 400, "invalid_json", "",
        (raw(b'"priority": NaN'), raw(b'"metadata": {"a": -Infinity}'), raw(b'"metadata": {"a": 1e999}'))),
    Row("nested without end", 400, "invalid_json", "", (Sent(b"[" * 100_000), raw(b'"input":' + b'{"a":' * 100_000))),
    Row("nested more than 64 levels", 422, "invalid_field", "input.a[0][0]...",
        (raw(b'"input": {"a": ' + b"[" * 90 + b"]" * 90 + b"}"),)),
    Row("more than 500,000 lists and objects", 413, "too_large", "",
        (raw(b'"input": {"a": [%s]}' % (b"[]," * 500_000)),)),
    Row("body that is not encoded as `Content-Encoding` says", 400, "bad_request", "",
        (Sent(b"not gzip", headers={"Content-Encoding": "gzip"}), Sent(b"{}", headers={"Content-Encoding": "br"}))),
    Row("text where a whole number belongs", 422, "invalid_field", "priority", (job(priority="7"), job(priority=1.5))),
    Row("number out of range", 422, "invalid_field", "priority", (job(priority=101), job(priority=-101))),
    Row("url that is no text", 422, "invalid_field", "url", (Sent({"url": 1}), Sent({"url": [URL]}))),
    Row("one url among many that is no text, or no url", 422, "invalid_field", "urls[1]",
        (Sent({"urls": [URL, 7]}), Sent({"urls": [URL, "shop"]}), Sent({"urls": [URL, "http://10.0.0.1/"]}))),
    Row("input that is no object", 422, "invalid_field", "input", (job(input=[]), job(input="text"))),
    Row("metadata that is no object", 422, "invalid_field", "metadata", (job(metadata=[]), job(metadata=7))),
    Row("field that does not exist", 422, "invalid_field", "workflow_id", (job(workflow_id="products"),)),
    Row("part of a workflow document of the wrong type", 422, "workflow_invalid", "document.nodes",
        (at("POST", "/api/v1/workflows", {"document": {**WORKFLOW, "nodes": "all"}}),)),
    Row("required field left out", 422, "invalid_field", "document", (at("POST", "/api/v1/workflows", {}),)),
    Row("neither url nor urls, or both", 422, "invalid_field", "url", (Sent({}), job(urls=[URL]))),
    Row("no urls, or 10,001", 422, "invalid_field", "urls", (Sent({"urls": []}), Sent({"urls": [URL] * 10_001}))),
    Row("query parameter of the wrong type, out of range or unknown", 422, "invalid_field", "limit",
        (at("GET", "/api/v1/jobs?limit=many"), at("GET", "/api/v1/jobs?limit=501"), at("GET", "/api/v1/jobs?limit="))),
    Row("Idempotency-Key empty, with blanks, not ASCII or longer than 255", 422, "invalid_field", "Idempotency-Key",
        tuple(replace(job(), headers={"Idempotency-Key": key}) for key in ("", "a b", "é", "x" * 256))),
    Row("two headers Idempotency-Key", 400, "bad_request", "Idempotency-Key",
        (replace(job(), headers=TWO_KEYS), replace(at("POST", "/api/v1/jobs/{their-job}/cancel"), headers=TWO_KEYS))),
    Row("two headers Authorization", 400, "bad_request", "Authorization",
        (replace(job(), key=NO_KEY, headers=TWO_CALLERS),
         replace(at("GET", "/api/v1/jobs"), key=NO_KEY, headers=TWO_CALLERS))),
    Row("body of a call that takes none", 422, "invalid_field", "body",
        (at("POST", "/api/v1/workflows/products/pause", {"until": "noon"}), at("GET", "/api/v1/keys", b"{"),
         Sent(method="DELETE", path="/api/v1/destinations/lake", chunked_mib=17))),
    Row("NUL in a text", 422, "unusable_text", "input.a[1]", (raw(rb'"input": {"a": ["x", "\u0000"]}'),)),
    Row("NUL in a name", 422, "unusable_text", r"metadata.a\x00", (raw(rb'"metadata": {"a\u0000": 1}'),)),
    Row("half of a surrogate pair in a text", 422, "unusable_text", "input.a",
        (raw(rb'"input": {"a": "x\ud800"}'), raw(rb'"input": {"a": "\udc00\ud800"}'))),
    Row("half of a surrogate pair in a name", 422, "unusable_text", r"metadata.\udc00",
        (raw(rb'"metadata": {"\udc00": 1}'),)),
    Row("NUL or half of a surrogate pair in a url", 422, "unusable_text", "url",
        (Sent(rb'{"url": "https://shop.example/\u0000"}'), Sent(rb'{"url": "https://shop.example/\ud83d"}'))),
    Row("url not http(s), or without host", 422, "invalid_field", "url",
        urls("", "shop.example", "//shop.example/", "ftp://shop.example/", "file:///etc/passwd", "https:///path",
             "javascript:alert(1)", "data:text/html,x", "http://./")),
    Row("url with user name, blanks, control characters or a bad port", 422, "invalid_field", "url",
        urls("https://user:word@shop.example/", "https://shop.example/a b", "https://shop.example/\r\nHost: other",
             "https://shop.example:99999/", "https://[::1/")),
    Row("url longer than 8,192 characters", 422, "invalid_field", "url", urls(f"{URL}{'x' * 8192}")),
    Row("private, loopback or link-local address", 422, "invalid_field", "url",
        urls("http://10.0.0.1/", "http://192.168.1.1/", "http://127.0.0.1/", "http://localhost/", "http://[::1]/",
             "http://169.254.169.254/", "http://[fe80::1]/", "http://[fd00::1]/", "http://0.0.0.0/")),
    Row("address mapped into another family", 422, "invalid_field", "url",
        urls("http://[::ffff:10.0.0.1]/", "http://[2002:7f00:1::]/", "http://[64:ff9b::7f00:1]/")),
    Row("address as a decimal, hex, octal or short number", 422, "invalid_field", "url",
        urls("http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://017700000001/", "http://127.1/")),
    Row("endpoint of a webhook that is no url, or is private", 422, "invalid_field", "url",
        tuple(at("POST", "/api/v1/webhooks", {"url": url}) for url in ("hook", "ftp://a.example/", "http://127.1/"))),
    Row("unknown or unpublished workflow", 422, "unknown_workflow", "workflowId",
        (job(workflowId="nothing"), job(workflowId="draft"), job(workflowId="../etc"))),
    Row("workflow that cannot run: no edge leaves its entry", 422, "workflow_invalid", "document.nodes[0]",
        (at("POST", "/api/v1/workflows", {"document": {**WORKFLOW, "edges": []}}),)),
    Row("metadata of 1 MiB", 413, "too_large", "metadata", (job(metadata={"a": "x" * MIB}),)),
    Row("input over 32 KiB", 413, "too_large", "input", (job(input={"a": "x" * 32 * 1024}),)),
    Row("input and metadata of all jobs over 32 MiB", 413, "too_large", "urls",
        (Sent({"urls": [URL] * 10_000, "input": {"a": "x" * 30_000}}),)),
    Row("submission over 16 MiB", 413, "too_large", "",
        (Sent(b" " * (16 * MIB + 1)), Sent(chunked_mib=17),
         Sent(gzip.compress(b" " * (17 * MIB)), headers={"Content-Encoding": "gzip"}))),
    Row("workflow with its frame over 1,088 KiB", 413, "too_large", "",
        (at("POST", "/api/v1/workflows", b" " * (1088 * 1024 + 1)),)),
    Row("any other body over 1 MiB", 413, "too_large", "",
        (at("POST", "/api/v1/orgs", b" " * (MIB + 1), "operator"), Sent(path="/api/v1/webhooks", chunked_mib=2))),
    Row("no key", 401, "unauthenticated", "",
        (replace(job(), key=NO_KEY), replace(job(), key=NO_KEY, headers={"Authorization": "Basic YTpi"}))),
    Row("unknown key", 401, "unauthenticated", "",
        tuple(replace(job(), key=key) for key in ("jlk_x", "wrong", "jlk_0000000000000000_" + "0" * 64))),
    Row("revoked key", 401, "unauthenticated", "", (replace(job(), key="revoked"),)),
    Row("key without the scope", 403, "forbidden", "",
        (replace(job(), key="reader"), at("GET", "/api/v1/orgs"), at("GET", "/api/v1/jobs", key="operator"))),
    Row("key in the URL", 400, "key_in_url", "",
        (at("GET", "/api/v1/jobs?key=abc"), at("GET", "/api/v1/jobs?q=jlk_0_0"), at("GET", "/api/v1/jobs/jlk_0_0"))),
    Row("job, workflow, webhook or key of another org", 404, "not_found", "",
        (at("GET", "/api/v1/jobs/{their-job}"), at("POST", "/api/v1/jobs/{their-job}/cancel"),
         at("GET", "/api/v1/workflows/theirs"), at("DELETE", "/api/v1/keys/{their-key}"))),
    Row("id that is none", 404, "not_found", "", (at("GET", "/api/v1/jobs/%ff%00"), at("GET", "/api/v1/jobs/x"),
        at("DELETE", "/api/v1/credentials/zyte%00"), at("DELETE", "/api/v1/destinations/x%00"))),
    Row("path that does not exist", 404, "not_found", "", (at("GET", "/"), at("GET", "/api/v1/nothing"))),
    Row("method that the path does not have", 405, "method_not_allowed", "",
        (at("DELETE", "/api/v1/jobs"), at("PROPFIND", "/api/v1/jobs"))),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scene:
    """An API with two orgs, keys by name, and names that paths may hold."""

    api: Api
    pocket: PocketLedger
    keys: dict[str, str]
    names: dict[str, str]

    async def send(self, sent: Sent) -> Answered:
        """Make one call."""
        body = _blanks(sent.chunked_mib) if sent.chunked_mib else sent.body
        key = self.keys.get(sent.key, sent.key)
        path = "/".join(self.names.get(part, part) for part in sent.path.split("/"))
        return await self.api.call(sent.method, path, key, body, headers=sent.headers)


async def _blanks(mib: int) -> AsyncIterator[bytes]:
    for _ in range(mib):
        yield b" " * MIB


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """What the requests meet, for all of them: none changes anything."""
    blobs = f"file://{tmp_path_factory.mktemp('blobs')}"
    dsn = databases.fresh()
    settings = Settings("", dsn, "", blobs, partitions=TEST_PARTITIONS, operator_key=OPERATOR)
    with closing(PocketLedger(TEST_PARTITIONS, dsn)) as pocket:
        async with aiohttp.ClientSession() as session, running(settings, pocket, session) as api:
            yield await _furnished(api, pocket)
    databases.drop(dsn)


async def _furnished(api: Api, pocket: PocketLedger) -> Scene:
    acme, rival = await make_tenant(api, "acme"), await make_tenant(api, "rival")
    for tenant, workflow_id in ((acme, "draft"), (rival, "theirs")):
        body = {"workflowId": workflow_id, "document": WORKFLOW}
        assert (await api.call("POST", "/api/v1/workflows", tenant.key, body)).status == 201
    gone = (await api.call("POST", "/api/v1/keys", acme.key)).json
    assert (await api.call("DELETE", f"/api/v1/keys/{gone['keyId']}", acme.key)).status == 200
    reader = (await api.call("POST", "/api/v1/keys", acme.key, {"scopes": ["read"]})).json["secret"]
    wrong = acme.key[:-1] + ("0" if acme.key[-1] != "0" else "1")
    keys = {"acme": acme.key, "revoked": gone["secret"], "reader": reader, "operator": OPERATOR, "wrong": wrong}
    names = {
        "{their-job}": await submit(api, rival),
        "{their-key}": (await api.call("POST", "/api/v1/keys", rival.key)).json["keyId"],
    }
    return Scene(api, pocket, keys, names)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
async def test_bad_input_has_its_status_its_code_and_its_field_and_reaches_no_ledger(scene: Scene, row: Row) -> None:
    told = len(scene.pocket.commands)
    for sent in row.sent:
        answer = await scene.send(sent)
        shown = str(sent)[:200]
        assert (answer.status, answer.json["error"]) == (row.status, row.code), (shown, answer.json)
        _check_field(answer.json.get("field", ""), row.field, shown)
        assert answer.json["message"], shown
        assert answer.json["requestId"] == answer.headers["X-Request-Id"], shown
        assert row.status != 401 or answer.headers["WWW-Authenticate"].startswith("Bearer"), shown
        assert row.status != 405 or answer.headers["Allow"] == "GET, POST", shown
    assert len(scene.pocket.commands) == told


def test_the_document_has_these_rows_and_no_others() -> None:
    table = ["| what | status and code | field |", "|---|---|---|", *map(_line, ROWS)]
    section = DOCS.read_text("utf-8").partition("## Bad input\n")[2].partition("\n## ")[0]
    written = [line for line in section.splitlines() if line.startswith("|")]
    assert written == table, "docs/errors.md has to say:\n" + "\n".join(table)


def _line(row: Row) -> str:
    return f"| {row.what} | {row.status} `{row.code}` | {f'`{row.field}`' if row.field else ''} |"


def _check_field(found: str, expected: str, shown: str) -> None:
    if expected.endswith("..."):
        assert found.startswith(expected.removesuffix("...")), shown
    else:
        assert found == expected, shown
