"""How far a partition was read: what a consumer stores beside what it made of the events, and begins with again."""

import re

from msgspec import Struct

from schemas.client.errors import BadCheckpoint

TEXT = re.compile(
    r"(?P<partition>[0-9]{1,9}):(?P<position>[0-9]{1,19})(?:@(?P<next_offset>[0-9]{1,19})(?:/(?P<taken>[0-9]{1,19}))?)?"
)


class Checkpoint(Struct, frozen=True):
    """A place in a partition. `str` of it is to be stored, `Checkpoint.parse` makes it again."""

    partition: int
    position: int | None = 0  # of the last event that was seen, skipped ones included; 0: none; None: not known
    next_offset: int | None = 0  # where to go on reading; None: not known, it is looked for
    taken: int = 0  # position of the last event that was read to its end: whatever is wanted behind it is still to come

    @classmethod
    def parse(cls, text: str) -> "Checkpoint":
        """Return what `str` wrote, or what is behind `<partition>:<position>`, which the API and events name."""
        match = TEXT.fullmatch(text)
        if match is None:
            raise BadCheckpoint(
                f"{text[:80]!r} is no checkpoint: expected <partition>:<position>, with @<next offset> or "
                "@<next offset>/<position read> behind it where this client wrote it"
            )
        named = {name: int(value) for name, value in match.groupdict().items() if value is not None}
        return cls(
            named["partition"], named["position"], named.get("next_offset"), named.get("taken", named["position"])
        )

    def __str__(self) -> str:
        text = f"{self.partition}:{self.position}"
        if self.next_offset is None:
            return text
        return f"{text}@{self.next_offset}" + (f"/{self.taken}" if self.taken != self.position else "")
