"""Jobs that left the memory of a decider, and the read model that has them."""

import random
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from msgspec.structs import replace

from projections.migrate import SCHEMA
from projections.postgres.batch import batch_of
from projections.postgres.store import Store
from schemas.events import JobExpired, JobsArchived
from schemas.recorded import Recorded
from services.decider.archive import ArchiveAway
from services.decider.postgres_archive import PostgresArchive
from services.ledger.commands import AnyCommand, CancelJob, DeleteJob, ExpireJob, SettleDeliveries
from services.ledger.job import Job
from services.ledger.policy import Policy
from services.ledger.replies import Refused, Reply
from services.ledger.reports import Extracted, Failed
from services.ledger.status import Status
from services.ledger.wire import REPLIES
from services.runtime import topics
from services.runtime.ledger_log import Checkpoint, Entry, LedgerLog
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from tests.integration.decider.partitions import (
    ORG,
    STEPS,
    Partition,
    events_of,
    read,
    registered,
    run_to_completion,
    submitted,
)
from tests.property import scripts
from tests.property.test_archive_rules import FORGETFUL, WHOLE, Script, lasting, live
from tests.unit.ledger.world import Keeper

PLACES = ["p", "q", "w", "done", "lost"]
TABLES = "jobs, job_transitions, job_trace, extraction_deliveries, deleted_jobs, checkpoints"


@pytest.fixture
def archive(settings: Settings) -> Iterator[PostgresArchive]:
    """The archive over the read model of a fresh database."""
    with closing(PostgresArchive(settings.postgres)) as archive:
        yield archive


class StoredKeeper(Keeper):
    """Keeps jobs where a decider finds them: in the read model, up to the newest event."""

    def __init__(self, dsn: str, archive: PostgresArchive) -> None:
        super().__init__()
        self.loads = 0
        self._archive = archive
        self._store = Store(dsn, SCHEMA, Vault(""))
        self._entries: list[Entry] = []

    def take(self, recorded: Recorded) -> None:
        """Note the next event."""
        super().take(recorded)
        header = recorded.header
        self._entries.append(Entry(recorded, b"", header.event_type, 0, header.position, header.position))

    def load(self, org_id: str, job_id: str) -> Job | None:
        """Project what came, and return the job as Postgres has it."""
        entries, self._entries = self._entries, []
        self._store.write(batch_of(self._store.checkpoints(range(1)), entries))
        self.loads += 1
        return self._archive.load(0, org_id, job_id, 0)

    def close(self) -> None:
        """End the session."""
        self._store.close()


def life(seed: int) -> Script:
    """Bring every job to an end of some kind, then say all kinds of things about jobs that have ended."""
    chosen = random.Random(seed)
    script: Script = []
    for job_id in scripts.JOBS:
        org_id = scripts.org_of(job_id)
        ends: list[Script] = [
            [scripts.report(job_id, "b0", 1, 0, Extracted(result_ref="r")), scripts.settle(job_id, PLACES, 1, "")],
            [scripts.report(job_id, "b0", 1, 0, Failed(error_type="x")), scripts.settle(job_id, PLACES, 1, "bad_row")],
            [
                scripts.report(job_id, "b0", 1, 0, Extracted(result_ref="r")),
                scripts.settle(job_id, ["q"], 1, "bad_row"),
            ],
            [CancelJob(command_id="x", org_id=org_id, job_id=job_id, correlation_id="first")],
            [
                scripts.report(job_id, "b0", 1, 0, Extracted(result_ref="r")),
                scripts.settle(job_id, PLACES, 1, ""),
                scripts.Wait(300),
                ExpireJob(command_id="y", org_id=org_id, job_id=job_id),
                scripts.settle(job_id, ["erasure"], 1, ""),
            ],
            [DeleteJob(command_id="e", org_id=org_id, job_id=job_id), scripts.settle(job_id, ["erasure"], 1, "")],
        ]
        script += [scripts.submit(job_id, chosen.randrange(len(scripts.PLACES) + 1), 0), scripts.claim(job_id, "b0")]
        script += chosen.choice(ends)
    for _ in range(40):
        job_id = chosen.choice(scripts.JOBS)
        org_id = scripts.org_of(job_id)
        late: list[AnyCommand | scripts.Wait] = [
            scripts.claim(job_id, "b1"),
            scripts.report(job_id, "b0", 1, chosen.randrange(2), chosen.choice((None, Failed(error_type="x")))),
            scripts.settle(job_id, [chosen.choice(PLACES)], chosen.randrange(1, 4), chosen.choice(("", "connection"))),
            scripts.settle(job_id, ["erasure"], chosen.randrange(1, 4), ""),
            scripts.redeliver(job_id, chosen.choice(PLACES), chosen.randrange(1, 4)),
            scripts.waive(job_id, chosen.choice(PLACES), chosen.randrange(1, 4)),
            CancelJob(command_id="x", org_id=org_id, job_id=job_id, correlation_id=chosen.choice(("first", "second"))),
            DeleteJob(command_id="e", org_id=org_id, job_id=job_id),
            ExpireJob(command_id="y", org_id=org_id, job_id=job_id),
            ExpireJob(command_id="y", org_id=org_id, job_id=job_id),
            scripts.Wait(chosen.choice((1, 30, 300))),
        ]
        script.append(chosen.choice(late))
    return script


def test_a_ledger_whose_jobs_come_back_from_postgres_decides_and_answers_like_one_that_forgets_nothing(
    settings: Settings, archive: PostgresArchive
) -> None:
    loads = expired = 0
    for seed in range(40):
        with psycopg.connect(settings.postgres, autocommit=True) as connection:
            connection.execute(f"SET search_path TO {SCHEMA}")
            connection.execute(f"TRUNCATE {TABLES}".encode())
        script = life(seed)
        _, wanted, told = live(script, WHOLE, [])
        with closing(StoredKeeper(settings.postgres, archive)) as keeper:
            _, events, answers = live(script, FORGETFUL, [True], keeper)
            loads += keeper.loads
        assert lasting(events) == lasting(wanted), seed
        assert answers == told, seed
        expired += sum(isinstance(event, JobExpired) for event in wanted)
    assert loads > 200
    assert expired > 10


class Away:
    """An archive that has everything and cannot be reached."""

    def position(self) -> int:
        """Return a position behind every event."""
        return 2**60

    def load(self, org_id: str, job_id: str, position: int) -> Job | None:
        """Say so."""
        raise ArchiveAway("Postgres does not answer")


def late_ack(job_id: str) -> SettleDeliveries:
    """An ACK of a webhook that nobody asked for any more."""
    command = run_to_completion(job_id)[-1]
    assert isinstance(command, SettleDeliveries)
    return command


def archived_partition(settings: Settings, archive: object) -> Partition:
    """A partition whose only job is completed and has left memory."""
    partition = Partition(settings, policy=Policy(ended_kept=0, ended_kept_for=0), archive=lambda _: archive)  # type: ignore[arg-type, return-value]
    partition.send(registered(), submitted("j1"), *run_to_completion("j1"))
    partition.until(lambda: partition.decider.ledger.archived_up_to > 0)
    assert partition.status("j1") is None
    return partition


def ask(partition: Partition, command: AnyCommand) -> object:
    """Send a command and return the answer to it."""
    asker = f"asker-{command.command_id}"
    partition.send(replace(command, requester=asker))
    place = topics.reply_partition(asker)
    found: list[Reply] = []
    for _ in range(STEPS):
        partition.decider.step()
        partition.producer.flush()
        records = read(partition.settings, topics.replies(partition.settings), place, 1)
        found = [reply for record in records if (reply := REPLIES.decode(record.value)).requester == asker]
        if found:
            return found[-1].body
    raise AssertionError("no answer")


def test_with_postgres_away_a_command_on_a_job_that_left_memory_is_turned_away_not_answered_wrongly(
    ledger: Settings,
) -> None:
    partition = archived_partition(ledger, Away())
    try:
        for command in (
            CancelJob(command_id="x", org_id=ORG, job_id="j1"),
            DeleteJob(command_id="e", org_id=ORG, job_id="j1"),
        ):
            answer = ask(partition, command)
            assert isinstance(answer, Refused)
            assert answer.code == "archive_unavailable"
        partition.send(late_ack("j1"), submitted("j2"))
        partition.until(lambda: partition.status("j2") is not None)  # and the partition goes on
        assert [reason for _, reason in partition.parked] == ["archive_unavailable"]
    finally:
        partition.close()


def test_a_job_comes_back_from_postgres_for_a_late_command_and_a_restart_knows_it_too(
    ledger: Settings, archive: PostgresArchive
) -> None:
    partition = Partition(ledger, policy=Policy(ended_kept=0, ended_kept_for=0), archive=archive.of)
    try:
        partition.send(registered(), submitted("j1"), *run_to_completion("j1"))
        partition.until(lambda: partition.status("j1") is Status.COMPLETED)
        for _ in range(3):
            partition.decider.step()
        assert partition.status("j1") is Status.COMPLETED  # Postgres does not have it yet
        project(ledger, partition)
        archive.look()
        partition.until(lambda: partition.status("j1") is None)
        project(ledger, partition)
        answer = ask(partition, CancelJob(command_id="x", org_id=ORG, job_id="j1"))
        assert answer == Refused(code="job_terminal", message="the job is completed", status="completed")
        assert partition.status("j1") is None  # nothing was recorded of it, so it did not come back
        partition.send(DeleteJob(command_id="e", org_id=ORG, job_id="j1"))
        partition.until(lambda: partition.status("j1") is not None)
        before = dict(partition.decider.ledger.jobs)
        position = partition.decider.position
    finally:
        partition.close()
    events = events_of(ledger, partition.number, position)
    of_job = [each for each in events if each.event.job_id == "j1"]
    assert [each.header.event_type for each in of_job][-3:] == ["JobRecalled", "JobDeleted", "DeliveryRequested"]
    assert [each.header.seq for each in of_job] == list(range(1, len(of_job) + 1))
    assert sum(isinstance(each.event, JobsArchived) for each in events) == 1
    again = Partition(ledger, policy=Policy(ended_kept=0, ended_kept_for=0))
    try:
        assert dict(again.decider.ledger.jobs) == before
    finally:
        again.close()


def test_a_read_model_that_is_being_rebuilt_is_no_archive(ledger: Settings, archive: PostgresArchive) -> None:
    with pytest.raises(ArchiveAway, match="up to position 0, and 7 is needed"):
        archive.load(0, ORG, "j1", 7)
    assert archive.load(0, ORG, "j1", 0) is None


def test_a_postgres_that_is_not_there_is_given_up_and_not_asked_again_at_once() -> None:
    with closing(PostgresArchive("postgresql://127.0.0.1:9/none")) as archive:
        with pytest.raises(ArchiveAway, match="Postgres"):
            archive.load(0, ORG, "j1", 0)
        assert archive.position(0) == 0


def project(settings: Settings, partition: Partition) -> None:
    """Bring the read model up to the newest event of a partition."""
    with closing(Store(settings.postgres, SCHEMA, Vault(settings.credentials_key))) as store:
        checkpoints = store.checkpoints(range(settings.partitions))
        at = checkpoints[partition.number]
        log = LedgerLog(settings, decoder(settings), {partition.number: Checkpoint(at.position, at.next_offset)})
        entries: list[Entry] = []
        while not entries or entries[-1].position < partition.decider.position:
            entries += log.poll(1000, 0.1)
        log.close()
        store.write(batch_of(checkpoints, entries))
