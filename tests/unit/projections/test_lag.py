"""Where the log ends: known to who has read up to there, read once more for who has not."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

import projections.lag
from projections.lag import Heads
from services.runtime.raw_log import Checkpoint
from services.runtime.settings import Settings

SETTINGS = Settings(kafka="nowhere:9", postgres="", registry="", blobs="", partitions=3)


class ToldEnds:
    """Ends that a test says."""

    def __init__(self) -> None:
        self.now: dict[int, int] = {}

    async def of(self, partitions: Iterable[int]) -> dict[int, int]:
        return {partition: self.now.get(partition, 0) for partition in partitions}


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[int, int]]:
    """The partitions that are read at their end, which tells a head of 100 there; and where they ended."""
    asked: list[Mapping[int, int]] = []

    def positions(_last: object, _decoder: object, ends: Mapping[int, int]) -> dict[int, int]:
        asked.append(ends)
        return dict.fromkeys(ends, 100)

    monkeypatch.setattr(projections.lag, "_positions", positions)
    return asked


async def test_who_has_read_up_to_the_marker_at_the_end_knows_the_head(looked_up: list[Mapping[int, int]]) -> None:
    ends, heads = ToldEnds(), Heads(SETTINGS, decoder=None)  # type: ignore[arg-type]
    told: Any = ends
    ends.now = {0: 12, 1: 12}
    await heads.renew(told, {0: Checkpoint(7, 11), 1: Checkpoint(8, 12)})
    assert heads.positions == {0: 7, 1: 8}
    assert looked_up == []


async def test_a_partition_with_more_than_a_marker_behind_what_was_read_is_read_at_its_end_once(
    looked_up: list[Mapping[int, int]],
) -> None:
    ends, heads = ToldEnds(), Heads(SETTINGS, decoder=None)  # type: ignore[arg-type]
    told: Any = ends
    ends.now = {0: 12, 1: 12, 2: 4}
    read = {0: Checkpoint(7, 10), 1: Checkpoint(8, 11)}  # nobody has read partition 2: it is read by a standby only
    await heads.renew(told, read)
    assert looked_up == [{0: 12, 2: 4}]
    assert heads.positions == {0: 100, 1: 8, 2: 100}
    await heads.renew(told, read)
    assert looked_up == [{0: 12, 2: 4}]  # nothing has grown
