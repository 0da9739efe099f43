"""A list of records in place of the client's source, which gives and takes partitions as a test says."""

from collections.abc import Collection, Iterable

from schemas.client.checkpoint import Checkpoint
from schemas.client.kafka import Begin, LetGo
from tests.fakes.records import InMemoryRecords


class InMemorySource(InMemoryRecords):
    """Gives out records from the given checkpoints on."""

    starts: Collection[Checkpoint] = (Checkpoint(0),)
    begin: Begin
    let_go: LetGo
    committed: tuple[Checkpoint, ...] = ()

    def open(self, begin: Begin, let_go: LetGo) -> None:
        """Give every partition that has a start."""
        self.begin, self.let_go = begin, let_go
        begin(self.starts)

    def ends(self) -> dict[int, tuple[int, int]]:
        """Say where reading goes on, and where the records end."""
        ends = {record.partition: record.offset + 1 for record in self.records}
        return {each: (self.next_offsets().get(each, 0), end) for each, end in ends.items()}

    def commit(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Note what was committed."""
        self.committed = tuple(checkpoints)
