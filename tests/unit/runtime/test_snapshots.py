"""Snapshots in a blob store: whole or not used, the newest few kept."""

from pathlib import Path

import pytest

from services.ledger.digest import digest_of_state
from services.ledger.policy import Policy
from services.ledger.snapshot import FOLD_VERSION
from services.ledger.state import Ledger
from services.runtime import snapshots as module
from services.runtime.settings import Settings
from services.runtime.snapshots import FRAME, KEPT, MAGIC, Snapshots, UnusableSnapshot, header_of
from tests.property.test_snapshots import folded, stream_of

END = 10_000
HASH = bytes(32)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose blobs lie in a directory."""
    return Settings(kafka="", postgres="", registry="", blobs=f"file://{tmp_path}")


@pytest.fixture
def ledger() -> Ledger:
    """A state of some size."""
    return folded(stream_of(list(range(0, 1600, 3))))


@pytest.fixture
def file(settings: Settings, ledger: Ledger, tmp_path: Path) -> Path:
    """The file of a snapshot of it."""
    return tmp_path / Snapshots(settings).save(ledger, header_of(ledger, 77, HASH))


def reason_of(settings: Settings, *, policy: Policy | None = None, partition: int = 0, end: int = END) -> str:
    """Load the newest snapshot and return why it is refused."""
    snapshots = Snapshots(settings)
    with pytest.raises(UnusableSnapshot) as refused:
        snapshots.load(snapshots.newest_first(0)[0], partition, policy or Policy(), end)
    return refused.value.reason


def test_what_is_read_back_is_what_was_written(settings: Settings, ledger: Ledger, file: Path) -> None:
    snapshots = Snapshots(settings)
    [key] = snapshots.newest_first(0)
    assert (file.parent / key.rpartition("/")[2]) == file
    again, header = snapshots.load(key, 0, Policy(), END)
    assert digest_of_state(again) == digest_of_state(ledger)
    assert (header.position, header.event_offset, header.next_command) == (ledger.position, 77, ledger.cause + 1)
    assert (header.jobs, header.orgs) == (len(ledger.jobs), len(ledger.orgs))


def test_other_settings_than_those_by_which_a_fold_forgets_are_no_reason_to_refuse(
    settings: Settings, ledger: Ledger, file: Path
) -> None:
    [key] = Snapshots(settings).newest_first(0)
    policy = Policy(lease=1, retention=1, max_pending=1, ended_kept=1, delivery_resend=1, gate_deadline=1)
    again, _ = Snapshots(settings).load(key, 0, policy, END)
    assert again.jobs == ledger.jobs


def test_a_changed_byte_anywhere_is_noticed(settings: Settings, file: Path) -> None:
    whole = file.read_bytes()
    for place in range(len(MAGIC), len(whole), max(1, len(whole) // 300)):
        changed = bytearray(whole)
        changed[place] ^= 0x40
        file.write_bytes(changed)
        assert reason_of(settings) in ("corrupt", "truncated", "other_fold", "other_policy"), place


def test_a_snapshot_that_breaks_off_anywhere_is_noticed(settings: Settings, file: Path) -> None:
    whole = file.read_bytes()
    for size in (*range(1, len(whole), max(1, len(whole) // 100)), len(whole) - 1):
        file.write_bytes(whole[:size])
        assert reason_of(settings) in ("truncated", "corrupt"), size


def test_a_part_that_was_left_out_is_noticed(settings: Settings, file: Path) -> None:
    whole = file.read_bytes()
    first = len(MAGIC)
    second = first + FRAME.size + FRAME.unpack_from(whole, first)[0]
    third = second + FRAME.size + FRAME.unpack_from(whole, second)[0]
    file.write_bytes(whole[:third] + whole[third + FRAME.size + FRAME.unpack_from(whole, third)[0] :])
    assert reason_of(settings) == "corrupt"


def test_a_snapshot_of_something_else_is_refused(
    settings: Settings, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reason_of(settings, policy=Policy(idempotency_lifetime=1)) == "other_policy"
    assert reason_of(settings, partition=1) == "other_partition"
    assert reason_of(settings, end=77) == "beyond_the_log"
    with monkeypatch.context() as patched:
        patched.setattr(module, "FOLD_VERSION", FOLD_VERSION + 1)
        assert reason_of(settings) == "other_fold"
    file.write_bytes(b"JLSNAP99" + file.read_bytes()[len(MAGIC) :])
    assert reason_of(settings) == "other_format"


def test_a_snapshot_that_vanished_is_refused(settings: Settings, file: Path) -> None:
    snapshots = Snapshots(settings)
    [key] = snapshots.newest_first(0)
    file.unlink()
    with pytest.raises(UnusableSnapshot, match="unreadable"):
        snapshots.load(key, 0, Policy(), END)


def test_the_newest_few_are_kept_and_partitions_do_not_mix(settings: Settings) -> None:
    snapshots = Snapshots(settings)
    ledger = Ledger(0)
    for position in range(1, KEPT + 4):
        ledger.position = position * 7
        snapshots.save(ledger, header_of(ledger, position, HASH))
    other = Ledger(1)
    snapshots.save(other, header_of(other, 1, HASH))
    kept = [int(key.rpartition("/")[2]) for key in snapshots.newest_first(0)]
    assert kept == [position * 7 for position in range(KEPT + 3, 3, -1)]
    assert len(snapshots.newest_first(1)) == 1
    assert snapshots.newest_first(2) == []
