"""A partition of events as the decider wrote it, and everything that somebody else could write behind it."""

from dataclasses import dataclass

import confluent_kafka
import msgspec

from schemas.recorded import Recorded
from services.decider.outgoing import event_headers
from services.runtime import topics
from services.runtime.kafka import client_config
from services.runtime.reader import Record
from services.runtime.registry import decoder, encoder
from services.runtime.settings import Settings
from tests.integration.junk.records import FULL_BYTES, ORG, PARTITION, Planted

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True)
class Log:
    """A partition of events as the decider wrote it."""

    settings: Settings
    records: list[Record]

    @property
    def next(self) -> int:
        """Position of the next event."""
        return len(self.records) + 1

    def event(self, **header: int) -> tuple[bytes, Headers]:
        """Return the last event with another header, and what the decider's record of it would have as headers."""
        last = decoder(self.settings).decode(self.records[-1].value)
        assert last is not None
        recorded = Recorded(msgspec.structs.replace(last.header, **{"position": self.next} | header), last.event)
        stored = encoder(self.settings).encode(recorded)
        return stored, [*event_headers(recorded, stored)]

    def write(self, value: bytes, headers: Headers, key: str = ORG) -> int:
        """Write a record as anybody can who may write there, and return its offset."""
        offsets: list[int] = []
        producer = confluent_kafka.Producer(client_config(self.settings, "somebody") | {"message.max.bytes": 2_000_000})
        producer.produce(
            topics.events(self.settings),
            value,
            key.encode(),
            PARTITION,
            headers=headers,  # type: ignore[arg-type]  # declared narrower than it is
            on_delivery=lambda error, message: offsets.append(-1 if error else message.offset() or 0),
        )
        assert producer.flush(30) == 0
        [offset] = offsets
        assert offset >= 0
        return offset

    def write_junk(self) -> dict[int, Planted]:
        """Write everything that is no event for the next position, and return it by offset."""
        good, headers = self.event()
        foreign, its_headers = self.event(partition=PARTITION - 1)
        far, _ = self.event(position=self.next + 1)
        of_next: Headers = [("ledger-position", b"%d" % self.next)]
        bad: list[tuple[Planted, Headers]] = [
            (Planted(b"", "bad_message"), []),
            (Planted(b"\xff\x00\xfe", "bad_message"), []),
            (Planted(b"\xff\x00\xfe", "bad_message"), [("ledger-position", None)]),
            (Planted(b"", "bad_message"), of_next),
            (Planted(b"\xff\x00\xfe", "bad_message"), headers),
            (Planted(b"\x00\x00\x00\x00\x63" + good[5:], "bad_message"), of_next),
            (Planted(b"x" * FULL_BYTES, "bad_message"), []),
            (Planted(good[:-1], "bad_message"), headers),
            (Planted(good + b"\0", "bad_message"), headers),
            (Planted(self.records[0].value, "foreign_org", "another-org"), of_next),
            (Planted(self.records[-1].value, "bad_message"), headers),
            (Planted(far, "bad_message"), headers),
            (Planted(good, "bad_message"), [("ledger-position", b"%d" % (self.next + 1000))]),
            (Planted(foreign, "foreign_org"), its_headers),
            (Planted(good, "foreign_org", "another-org"), headers),
        ]
        return {self.write(each.value, its, each.key): each for each, its in bad}
