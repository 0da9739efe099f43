"""Batches with their checkpoints, a registry that is away, partitions that come and go, and a stop."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import OFFSET_INVALID, TopicPartition

from schemas.client import kafka
from schemas.client.checkpoint import Checkpoint
from schemas.client.errors import BadCheckpoint, KafkaFault, RegistryAway
from schemas.client.finding import NEAR, offset_behind
from schemas.client.private import private_of
from schemas.client.reader import EventReader, follow, names_of, note
from schemas.events import EVENT_TYPES, JobFailed, OrgRegistered
from schemas.private import private_bytes
from schemas.record import Record
from schemas.strangers import EventsMissing
from services.runtime.shredding.codec import sealed
from tests.fakes.records import event_record, local_decoder
from tests.fakes.source import InMemorySource
from tests.fakes.strangers import junk_for, org, schema_of


def reading(records: list[Record], schema_by_id: Any = schema_of) -> tuple[EventReader, InMemorySource]:
    source = InMemorySource(records)
    return EventReader(source, schema_by_id, EVENT_TYPES, note), source


def test_a_batch_has_the_events_and_the_checkpoints_behind_them() -> None:
    reader, source = reading([org(1), junk_for(2)["cut short"], org(2)])
    batch = reader.poll(10, 0)
    assert [each.place for each in batch.events] == ["0:1", "0:2"]
    assert {partition: str(each) for partition, each in batch.checkpoints.items()} == {0: "0:2@2"}
    reader.commit(batch)
    assert [str(each) for each in source.committed] == ["0:2@2"]
    assert not reader.poll(10, 0)
    assert (reader.at_end(), reader.lag()) == (True, {0: 0})


def test_a_registry_that_is_away_is_waited_for_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemas.client.reader.PAUSE_SECONDS", 0)
    answers = [RegistryAway("away"), RegistryAway("away")]

    def look_up(schema_id: int) -> Any:
        if answers:
            raise answers.pop()
        return schema_of(schema_id)

    reader, source = reading([org(1), org(2)], look_up)
    with pytest.raises(RegistryAway):
        reader.poll(10, 0)
    assert (reader.at_end(), reader.lag()) == (False, {0: 2})
    batch = next(iter(reader))
    assert [each.place for each in batch.events] == ["0:1", "0:2"]
    assert source.at_end()


def test_what_was_judged_before_the_registry_went_away_is_given_out_first() -> None:
    def look_up(schema_id: int) -> Any:
        if schema_id != org(1).value[4]:
            raise RegistryAway("away")
        return schema_of(schema_id)

    reader, _ = reading([org(1), event_record(2, JobFailed(org_id="acme"))], look_up)
    assert [each.place for each in reader.poll(10, 0).events] == ["0:1"]
    with pytest.raises(RegistryAway):
        reader.poll(10, 0)


def test_a_gap_is_for_good() -> None:
    reader, _ = reading([org(1), org(3)])
    for _ in range(2):
        with pytest.raises(EventsMissing):
            reader.poll(10, 0)


def test_a_partition_that_was_given_away_gives_nothing_and_its_checkpoint_is_not_committed() -> None:
    reader, source = reading([org(1)])
    batch = reader.poll(10, 0)
    source.let_go({0})
    reader.commit(batch)
    assert source.committed == ()
    source.records.append(org(2))
    assert not reader.poll(10, 0)
    source.begin([Checkpoint(0, 1, 1, 1)])
    source.records.append(org(2))
    assert [each.place for each in reader.poll(10, 0).events] == ["0:2"]


def test_stop_from_another_thread_ends_the_iteration_behind_the_batch_at_hand() -> None:
    reader, source = reading([org(1)])
    taken = []
    with reader:
        for batch in reader:
            taken.append(batch)
            source.records.append(org(2))
            stopping = threading.Thread(target=reader.stop)
            stopping.start()
            stopping.join()
    assert (len(taken), source.closed) == (1, True)


def test_a_reader_that_cannot_begin_lets_go_of_the_broker() -> None:
    class Refusing(InMemorySource):
        def open(self, *_: Any) -> None:
            raise RuntimeError("no")

    source = Refusing([])
    with pytest.raises(RuntimeError):
        EventReader(source, schema_of, EVENT_TYPES, note)
    assert source.closed


def test_only_events_of_the_ledger_can_be_wanted() -> None:
    assert names_of([JobFailed, OrgRegistered]) == {"JobFailed", "OrgRegistered"}
    with pytest.raises(ValueError, match="no event types of the ledger: Received"):
        follow({}, "t", "http://127.0.0.1:9", types=[type("Received", (JobFailed,), {})])


@pytest.mark.parametrize("text", ["3:41@97", "3:41@97/38", "3:41", "0:0@0"])
def test_a_checkpoint_comes_back_from_its_text(text: str) -> None:
    assert str(Checkpoint.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["", "3", "3:", "a:1", "3:-1", "3:1@", "3:1/2", "3:1@2/", "3:1 ", "3:" + "9" * 30, "٣:1"]
)
def test_a_text_that_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(BadCheckpoint, match="expected <partition>:<position>"):
        Checkpoint.parse(text)


@pytest.mark.parametrize("position", [0, 1, 499, 5_000, 9_998, 9_999])
def test_the_offset_behind_a_position_is_found_in_few_looks(position: int) -> None:
    """Events in transactions of three, each with a marker behind it."""
    offsets = {each: each - 1 + (each - 1) // 3 for each in range(1, 10_000)}
    looks = 0

    def look(offset: int) -> tuple[int, int] | None:
        nonlocal looks
        looks += 1
        return next(((at, each) for each, at in offsets.items() if at >= offset), None)

    found = offset_behind(position, 0, 14_000, look)
    wanted = offsets.get(position + 1, offsets[9_999] + 1)
    assert wanted - NEAR <= found <= wanted
    assert looks <= 6


@pytest.mark.parametrize("tells_at", [1, 3, None])
def test_where_no_leader_tells_the_end_of_a_partition_it_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, tells_at: int | None
) -> None:
    monkeypatch.setattr(kafka, "PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(kafka, "LOOK_SECONDS", 5.0 if tells_at else 0.01)
    asked: list[TopicPartition] = []

    def tell(places: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        asked.extend(places)
        known = 77 if tells_at == len(asked) else OFFSET_INVALID
        return [TopicPartition(each.topic, each.partition, known) for each in places]

    monkeypatch.setattr(kafka, "Consumer", lambda _: SimpleNamespace(offsets_for_times=tell))
    looking = kafka._Looking({}, "t", 0, local_decoder().claim)
    if tells_at:
        assert (looking.end(), len(asked)) == (77, tells_at)
    else:
        with pytest.raises(KafkaFault, match="does not tell where it ends"):
            looking.end()


def test_private_members_open_with_the_key_of_their_job_and_to_nothing_without() -> None:
    members = {"message": "no answer", "finalUrl": "https://shop.example/ä"}
    job, key = ("acme", "j-1"), b"k" * 32
    for private in (private_bytes(members), sealed(private_bytes(members), key, job)):
        event = JobFailed(org_id="acme", job_id="j-1", private=private)
        recorded = local_decoder().decode(event_record(1, event).value)
        assert recorded
        assert private_of(recorded, {job: key}.get) == members
        closed = {} if private[0] else members
        assert private_of(recorded) == closed
        assert private_of(recorded, lambda _: None) == closed
        assert private_of(recorded, lambda _: b"x" * 32) == closed


@pytest.mark.parametrize("private", [b"", b"\x07of a later version", b"\x01short", b"\0[1]"])
def test_private_bytes_that_nobody_can_read_are_taken_for_empty(private: bytes) -> None:
    recorded = local_decoder().decode(event_record(1, JobFailed(org_id="a", job_id="j", private=private)).value)
    assert recorded
    assert private_of(recorded, lambda _: b"k" * 32) == {}
