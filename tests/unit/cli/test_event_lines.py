"""Events as lines."""

from schemas.events import JobFailed, JobSubmitted
from schemas.plain import plain_event, readable
from schemas.recorded import Header, Recorded
from services.cli.event_lines import event_line, in_order

EVENT_ID = bytes(range(16))
SUBMITTED = JobSubmitted(
    org_id="org-1", job_id="job-1", workflow_id="wf", private=b'\x00{"url":"https://shop.example/secret"}'
)


def recorded(event: JobSubmitted | JobFailed, *, partition: int = 3, position: int = 7, at: int = 0) -> Recorded:
    """Return an event as it stands in the log."""
    header = Header(
        event_id=EVENT_ID,
        event_type=type(event).__name__,
        seq=1,
        partition=partition,
        position=position,
        occurred_at=1_795_953_600_000_000 + at,
        actor="api:1",
        cause=4,
        correlation_id="",
        traceparent="",
        prev_hash=bytes(32),
    )
    return Recorded(header, event)


def test_a_line_says_when_where_what_and_about_whom() -> None:
    line = event_line(recorded(SUBMITTED))
    assert line.split()[:5] == ["12:00:00.000000", "3:7", "JobSubmitted", "org-1", "job-1"]
    assert "workflow_id=wf" in line


def test_private_bytes_are_shown_only_when_asked_for() -> None:
    event = recorded(SUBMITTED)
    assert "secret" not in event_line(event)
    assert "private" not in plain_event(event)
    assert "secret" in event_line(event, private=True)
    assert plain_event(event, private=True)["private"] == {"url": "https://shop.example/secret"}


def test_private_bytes_in_another_encoding_are_not_guessed_at() -> None:
    assert readable(b"\x01abc") == "4 bytes, encrypted"
    assert readable(b"") is None


def test_json_has_every_field_of_the_record_with_ids_as_uuids_and_hashes_in_hex() -> None:
    shown = plain_event(recorded(SUBMITTED))
    assert shown["event_id"] == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert shown["prev_hash"] == "00" * 32
    assert shown["destinations"] == []
    assert set(shown) == {*Header.__struct_fields__, *JobSubmitted.__struct_fields__} - {"private"}


def test_events_of_several_partitions_come_in_the_order_of_their_times() -> None:
    later = recorded(SUBMITTED, partition=0, at=2)
    sooner = recorded(SUBMITTED, partition=1, at=1)
    tied = recorded(SUBMITTED, partition=0, at=1)
    assert in_order([later, sooner, tied]) == [tied, sooner, later]
