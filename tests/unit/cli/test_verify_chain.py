"""`jobledger verify --chain`: what it says of a log that was changed, and how it ends. The log is in memory."""

import asyncio
import base64
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner, Result

from api.history_answers import ChainHead
from projections import verify_chain
from projections.heads.sheet import Sheet, write_sheet
from projections.heads.signing import Signer
from services.cli.verify import app
from services.runtime.blob import BlobStore
from services.runtime.raw_log import Checkpoint
from services.runtime.reader import Record
from tests.fakes.records import InMemoryRecords
from tests.unit.projections.test_chain import DECODER, LAST, RECORDS, SIGNER, edited, heads

LOG = list(RECORDS)
Verify = Callable[..., Result]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[Record]:
    """The log that is verified, to be changed."""
    records = list(RECORDS)
    monkeypatch.setattr(verify_chain, "LogReader", lambda *_: InMemoryRecords(records))
    monkeypatch.setattr(verify_chain, "decoder", lambda _settings: DECODER)
    return records


@pytest.fixture
def verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Verify:
    """The command, on a ledger whose sheet of heads was signed when its log was whole."""
    blobs = f"file://{tmp_path}"
    settings = {"KAFKA": "k", "POSTGRES": "host=p", "REGISTRY": "r", "BLOBS": blobs, "PARTITIONS": "1"}
    for name, text in (
        settings | {"TOPIC_PREFIX": "test", "SIGNING_KEY": base64.b64encode(bytes(32)).decode()}
    ).items():
        monkeypatch.setenv(f"JOBLEDGER_{name}", text)
    sheet = Sheet(public_key=SIGNER.public_key, checkpoint=Checkpoint(LAST, LAST), heads=heads())
    asyncio.run(write_sheet(BlobStore(blobs), "test", 0, sheet))
    return lambda *arguments: CliRunner().invoke(app, ["--chain", *arguments])


def places(done: Result) -> list[tuple[str, int]]:
    """Return what is named as JSON: what is wrong, and at which position."""
    told = json.loads(done.stdout)
    assert told["ok"] is (not told["faults"]) is (done.exit_code == 0)
    return [(fault["field"], int(fault["job_id"].rpartition(" ")[2])) for fault in told["faults"]]


def test_a_log_as_it_was_written_ends_well_and_says_how_many_heads_were_compared(
    log: Sequence[Record], verify: Verify
) -> None:
    done = verify()
    assert done.exit_code == 0, done.output
    assert f"{len(heads())} signed heads" in done.stdout
    assert "the log is as it was written" in done.stdout
    assert places(verify("--json")) == []


def test_what_was_edited_reordered_dropped_or_cut_off_is_named_with_exit_code_1(
    log: list[Record], verify: Verify
) -> None:
    log[5] = edited(LOG[5])
    assert places(verify("--json")) == [("bytes", 6)]
    log[:] = [*LOG[:5], LOG[6], LOG[5], *LOG[7:]]
    assert ("order", 6) in places(verify("--json"))
    log[:] = LOG[:5] + LOG[6:]
    assert ("event", 6) in places(verify("--json"))
    log[:] = LOG[:-1]
    assert places(verify("--json")) == [("last event", LAST)]
    told = verify()
    assert told.exit_code == 1
    assert "last event" in told.stdout
    assert "1 faults" in told.stdout


def test_a_head_that_was_kept_names_a_cut_where_the_sheet_was_cut_with_the_log(
    log: list[Record], verify: Verify, tmp_path: Path
) -> None:
    kept = tmp_path / "head.json"
    newest = max(heads().values(), key=lambda head: head.position)
    told = ChainHead(public_key=SIGNER.public_key, **msgspec.structs.asdict(newest))
    kept.write_bytes(msgspec.json.encode(told))
    log[:] = LOG[:-1]
    sheet = Sheet(public_key=SIGNER.public_key, checkpoint=Checkpoint(LAST - 1, LAST - 1), heads=heads(LOG[:-1]))
    asyncio.run(write_sheet(BlobStore(f"file://{tmp_path}"), "test", 0, sheet))
    assert places(verify("--json")) == [], "nobody can tell"
    assert places(verify("--json", "--head", str(kept))) == [("last event", LAST)]
    kept.write_text("{}")
    refused = verify("--head", str(kept))
    assert refused.exit_code != 0
    assert "is no signed head" in refused.output


def test_heads_that_another_key_signed_are_named(log: Sequence[Record], verify: Verify) -> None:
    other = Signer(base64.b64encode(b"o" * 32).decode()).public_key
    told = json.loads(verify("--json", "--public-key", other).stdout)
    assert {fault["field"] for fault in told["faults"]} == {"signature of its head"}
