"""What is counted of outcomes by query and by zone, and as of the last item that succeeded."""

import random

import pytest

from services.ledger.items import Items
from services.runtime.item_chunks import stats_part
from services.workers.modules import recorder, stats
from services.workers.modules.protocol import Item, Outcome
from services.workers.modules.recorder import Recorder
from services.workers.modules.stats import Kept, Stats, decoded, without_errored

ZONES = ("", "north", "south")


@pytest.mark.parametrize("seed", range(20))
def test_counts_as_of_the_last_success_are_those_that_stood_there(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "MOST_NAMED", 4)  # so that some are counted as others
    chance = random.Random(seed)
    items = [Item(n, {"query": f"q{chance.randrange(8)}", "zone": chance.choice(ZONES)}) for n in range(60)]
    recording, counted, at_success = Recorder(Items(chain_id="j1"), items, Kept(Stats())), Stats(), Stats()
    for item in items:
        failed = chance.random() < 0.5
        recording.add(Outcome(item.number, error="http_4xx") if failed else Outcome(item.number, rows=[{"n": 1}]))
        counted.add(item.value, 0 if failed else 1, failed=failed)
        if not failed:
            counted.saw({"n": 1})
            at_success = decoded(stats.encoded(Kept(counted))).now
        if chance.random() < 0.2:
            packed = recording.take().packed
            kept = decoded(stats_part(packed.data, packed.stats_bytes))
            assert (kept.now, kept.resumable or kept.now) == (counted, at_success)


def test_counts_are_copied_once_for_a_chunk_however_many_of_its_items_error(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[int] = []

    def noted(now: Stats, values: list[dict[str, str]]) -> Stats:
        copied.append(len(values))
        return without_errored(now, values)

    monkeypatch.setattr(recorder, "without_errored", noted)
    items = [Item(n, {"query": f"q{n}"}) for n in range(100)]
    recording = Recorder(Items(chain_id="j1"), items, Kept(Stats()))
    for item in items:
        recording.add(Outcome(item.number, error="http_4xx" if item.number % 2 else ""))
    recording.take()
    assert copied == [1]
