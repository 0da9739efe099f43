"""A decider begins with the newest snapshot of its log that is whole, and with the log itself where there is none."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.ledger.apply import apply
from services.ledger.digest import digest_of_state
from services.ledger.record import digest_of
from services.ledger.state import Ledger
from services.ledger.status import Status
from services.runtime.admin import ensure_topics
from services.runtime.beginning import beginning
from services.runtime.ledger_log import Checkpoint, LedgerLog
from services.runtime.metrics import exposition
from services.runtime.policy import policy_of
from services.runtime.registry import decoder
from services.runtime.settings import Settings, blob_directory
from services.runtime.snapshots import KEPT, Snapshots
from services.snapshotter import sink as snapshotter
from services.snapshotter.sink import SnapshotSink
from tests.integration.decider.partitions import Partition, opened, registered, run_to_completion, submitted

pytestmark = pytest.mark.kafka
STEPS = 300


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshotter, "EVENTS_BETWEEN", 1)
    monkeypatch.setattr(snapshotter, "JOBS_PER_EVENT", 1_000_000)


@pytest.fixture
def past(ledger: Settings) -> Iterator[Partition]:
    """A partition with a past: jobs in several states, and three snapshots of it."""
    with opened(ledger) as partition:
        partition.send(registered(), submitted("j1"), submitted("j2"), *run_to_completion("j1"))
        partition.until(lambda: partition.status("j1") is Status.COMPLETED)
        for name in ("k1", "k2", "k3"):
            partition.send(submitted(name))
            partition.until(lambda name=name: partition.status(name) is not None)  # type: ignore[misc]
            follow(ledger, partition)
        partition.send(submitted("after"))
        partition.until(lambda: partition.status("after") is not None)
        yield partition


def follow(settings: Settings, partition: Partition) -> Ledger:
    """Let a snapshotter follow the log to where the decider is; return its state."""
    sink = SnapshotSink(settings)
    owned = range(partition.number, partition.number + 1)
    log = LedgerLog(settings, decoder(settings), sink.checkpoints(owned))
    for _ in range(STEPS):
        if log.position(partition.number) >= partition.decider.position:
            break
        sink.write(log.poll(1000, 0.1))
    log.close()
    return sink._ledgers[partition.number]


def full_fold(settings: Settings, partition: Partition) -> Ledger:
    """Fold everything from the first event on."""
    ledger = Ledger(partition.number, policy_of(settings))
    log = LedgerLog(settings, decoder(settings), {partition.number: Checkpoint()})
    for _ in range(STEPS):
        if ledger.position >= partition.decider.position:
            break
        for entry in log.poll(1000, 0.1):
            assert entry.recorded is not None
            apply(ledger, entry.recorded, digest_of(entry.raw))
    log.close()
    return ledger


def files(settings: Settings, partition: Partition) -> list[Path]:
    """The snapshots of a partition, the newest first."""
    directory = blob_directory(settings.blobs)
    assert directory is not None
    return [directory / key for key in Snapshots(settings).newest_first(partition.number)]


def refused(partition: Partition, reason: str) -> float:
    """How many snapshots of a partition were refused for a reason, in this process."""
    line = f'jobledger_snapshots_refused_total{{partition="{partition.number}",reason="{reason}"}} '
    return next((float(each[len(line) :]) for each in exposition().decode().splitlines() if each.startswith(line)), 0)


def test_a_restore_begins_with_the_newest_snapshot_and_ends_where_a_full_fold_ends(past: Partition) -> None:
    settings = past.settings
    assert len(files(settings, past)) == KEPT
    begun, checkpoint = beginning(settings, past.number, policy_of(settings))
    assert 0 < begun.position == checkpoint.position < past.decider.position
    assert "k3" in begun.jobs
    assert "after" not in begun.jobs
    with opened(settings) as second:
        states = {job_id: job.status for job_id, job in second.decider.ledger.jobs.items()}
        assert states == {job_id: job.status for job_id, job in past.decider.ledger.jobs.items()}
        assert states["j1"] is Status.COMPLETED
        assert digest_of_state(second.decider.ledger) == digest_of_state(full_fold(settings, second))
        second.send(submitted("later"))
        second.until(lambda: second.status("later") is not None)
        assert digest_of_state(follow(settings, second)) == digest_of_state(full_fold(settings, second))


def test_a_corrupt_snapshot_falls_back_to_the_one_before_it_and_says_so(past: Partition) -> None:
    newest, older, _ = files(past.settings, past)
    whole = bytearray(newest.read_bytes())
    whole[len(whole) // 2] ^= 1
    newest.write_bytes(whole)
    before = refused(past, "corrupt")
    begun, _ = beginning(past.settings, past.number, policy_of(past.settings))
    assert begun.position == int(older.name)
    assert refused(past, "corrupt") == before + 1


def test_without_a_usable_snapshot_the_log_is_folded_from_its_first_event(past: Partition) -> None:
    newest, older, oldest = files(past.settings, past)
    newest.write_bytes(b"")
    older.write_bytes(older.read_bytes()[:-1])
    oldest.unlink()
    assert beginning(past.settings, past.number, policy_of(past.settings))[1] == Checkpoint()
    with opened(past.settings) as second:
        assert second.status("j1") is Status.COMPLETED
        assert digest_of_state(second.decider.ledger) == digest_of_state(full_fold(past.settings, second))


def test_a_snapshot_of_another_log_is_not_used(past: Partition, new_settings: Callable[[], Settings]) -> None:
    """As after a ledger was begun anew while its blobs stayed: shorter than the old one, then longer."""
    fresh = new_settings()
    ensure_topics(fresh)
    with opened(fresh) as other:
        place = Snapshots(fresh)._prefix(other.number)
        directory = blob_directory(fresh.blobs)
        assert directory is not None
        (directory / place).mkdir(parents=True)
        for file in files(past.settings, past):
            (directory / place / file.name).write_bytes(file.read_bytes())
        before = refused(other, "other_log")
        assert beginning(fresh, other.number, policy_of(fresh))[1] == Checkpoint()
        assert refused(other, "other_log") == before + KEPT
        other.send(registered(), *(submitted(f"x{number}") for number in range(20)))
        other.until(lambda: other.status("x19") is not None)
        assert beginning(fresh, other.number, policy_of(fresh))[1] == Checkpoint()
        assert refused(other, "other_log") == before + 2 * KEPT


def test_what_cannot_be_used_and_claims_to_be_newer_does_not_crowd_out_what_is_written(past: Partition) -> None:
    """As after a ledger was begun anew while its blobs stayed, or after folders were exchanged."""
    place = files(past.settings, past)[0].parent
    for number in range(KEPT):
        (place / f"{10**9 + number:020}").write_bytes(b"of another log")
    past.send(submitted("more"))
    past.until(lambda: past.status("more") is not None)
    follow(past.settings, past)
    assert "more" in beginning(past.settings, past.number, policy_of(past.settings))[0].jobs
    assert len(files(past.settings, past)) == 2 * KEPT


def test_a_blob_store_that_is_away_only_makes_the_restore_longer(past: Partition, tmp_path: Path) -> None:
    (tmp_path / "snapshots").write_text("not a directory")
    away = replace(past.settings, blobs=f"file://{tmp_path}")
    begun, checkpoint = beginning(away, past.number, policy_of(away))
    assert (begun.position, checkpoint) == (0, Checkpoint())
