"""Lines of a log: the newest that match are found in all of it, a part at a time, and what is missing is said."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from api.spiders import log_reading
from api.spiders.log_lines import Wanted, rank, text_of
from api.spiders.log_notes import shown
from api.spiders.log_reading import Found, newest, whole
from projections.postgres.item_reading import Said
from projections.postgres.spider_views import SpiderJob
from services.runtime.item_chunks import packed_lines
from services.workers.spiders.frames import LEVELS
from tests.unit.api.spiders import AT, job, over, running

JOB = over()


def line(message: str, level: str = "info") -> dict[str, Any]:
    """A line as the runner sends it."""
    return {"level": level, "message": message, "timestamp": "2026-01-01T00:00:00Z", "logger": "scrapy.core"}


class Stored:
    """A log in parts of some lines each, every other of them in a blob."""

    def __init__(self, parts: Sequence[Sequence[dict[str, Any]]]) -> None:
        self.blobs: dict[str, bytes] = {}
        self.read: list[str] = []
        self.parts = [self._part(number, lines) for number, lines in enumerate(parts)]

    def _part(self, number: int, lines: Sequence[dict[str, Any]]) -> Said:
        names = [each["level"] for each in lines]
        levels = [names.count(level) for level in LEVELS]
        key = f"acme/j1/1/log-{number}" if number % 2 else None
        if key:
            self.blobs[key] = packed_lines(map(msgspec.json.encode, lines))
        return Said(number, 10 * number + 1, AT, None if key else list(lines), key, 0, levels)

    async def said(self, org_id: str, job_id: str, after: int, limit: int) -> list[Said]:
        return [part for part in self.parts if part.position > after][:limit]

    async def said_last(self, org_id: str, job_id: str, before: int, limit: int) -> list[Said]:
        return [part for part in reversed(self.parts) if part.position < before][:limit]

    async def get(self, key: str) -> bytes:
        self.read.append(key)
        return self.blobs[key]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Stored:
    """A log of 20 lines in ten parts, of which four are asked for at once: each part has a line of its number."""
    monkeypatch.setattr(log_reading, "PARTS", 4)
    return Stored([[line(f"page {n}"), line(f"Broken {n}", "error" if n < 3 else "debug")] for n in range(10)])


async def found(log: Stored, most: int = 100, **wanted: Any) -> list[str]:
    """The messages that are found."""
    lines = (await newest(log, log, JOB, Wanted(**wanted), most)).lines
    return [text.rpartition(": ")[2] for text in lines]


async def test_the_newest_lines_come_oldest_first_and_older_ones_are_told_of(log: Stored) -> None:
    cut = await newest(log, log, JOB, Wanted(), 3)
    assert [text.rpartition(": ")[2] for text in cut.lines] == ["Broken 8", "page 9", "Broken 9"]
    assert cut.more
    assert log.read == ["acme/j1/1/log-9"]
    all_of_it = await newest(log, log, JOB, Wanted(), 20)
    assert (len(all_of_it.lines), all_of_it.more, all_of_it.parts) == (20, False, 10)


async def test_a_level_means_that_level_or_above_and_parts_without_one_are_not_read(log: Stored) -> None:
    assert await found(log, level=rank("ERROR")) == ["Broken 0", "Broken 1", "Broken 2"]
    assert log.read == ["acme/j1/1/log-1"]
    assert len(await found(log, level=rank("info"))) == 13
    assert len(await found(log, level=rank("debug"))) == 20
    assert await found(log, level=rank("critical")) == []


async def test_a_text_is_found_in_upper_or_lower_case_wherever_it_stands(log: Stored) -> None:
    assert await found(log, contains="PAGE 1") == ["page 1"]
    assert await found(log, contains="broken", level=rank("warning")) == ["Broken 0", "Broken 1", "Broken 2"]
    assert await found(log, contains="core] error") == ["Broken 0", "Broken 1", "Broken 2"]


async def test_lines_of_one_answer_are_bounded_by_their_size_too(log: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_reading, "MAX_BYTES", 2 * len(text_of(line("Broken 9", "debug"))))
    cut = await newest(log, log, JOB, Wanted(), 100)
    assert (len(cut.lines), cut.more) == (2, True)
    monkeypatch.setattr(log_reading, "MAX_BYTES", 1)
    assert len((await newest(log, log, JOB, Wanted(), 100)).lines) == 1


async def test_the_whole_log_is_text_in_its_order_a_part_at_a_time(log: Stored) -> None:
    parts = [part.decode() async for part in whole(log, log, JOB)]
    assert len(parts) == 10
    assert [text.rpartition(": ")[2] for text in "".join(parts).splitlines()] == [
        text for n in range(10) for text in (f"page {n}", f"Broken {n}")
    ]
    assert parts[0].startswith("2026-01-01T00:00:00Z [scrapy.core] INFO: page 0\n")


NOTHING, SOME = Found([]), Found(["a"], parts=2)


@pytest.mark.parametrize(
    ("of", "what", "wanted", "source", "complete", "note"),
    [
        (job(), NOTHING, Wanted(), "none", False, "the job has not started yet"),
        (running(), NOTHING, Wanted(), "none", False, "nothing was logged yet"),
        (running(), SOME, Wanted(), "live", False, "the job is running: more may follow"),
        (over(), NOTHING, Wanted(), "none", True, "the job ended without a line"),
        (over("cancelled", claimed_at=None), NOTHING, Wanted(), "none", True, "the job never started"),
        (over(), SOME, Wanted(), "stored", True, None),
        (over(), Found([], parts=2), Wanted(3, "Y"), "stored", True,
         "no line of the log matches: level error or above, containing 'Y'"),
        (over(), Found(["a"], more=True, parts=1), Wanted(), "stored", False,
         "cut: these are the newest 1; ask for more lines, narrow it by level or contains, or download it"),
        (over(expired_at=AT), NOTHING, Wanted(), "none", False, "past retention: the log was purged"),
        (over("failed", error_type="worker_lost"), SOME, Wanted(), "stored", False,
         "the runner vanished: what it had not sent is missing"),
    ],
)  # fmt: skip
def test_it_is_said_whether_lines_are_all_and_why_they_are_few_or_none(
    of: SpiderJob, what: Found, wanted: Wanted, source: str, complete: bool, note: str | None
) -> None:
    said = shown(of, what, wanted)
    assert (said.source, said.complete, said.note) == (source, complete, note)


def test_levels_have_their_usual_other_names() -> None:
    assert [rank(name) for name in ("debug", "WARN", "Fatal", "loud")] == [0, 2, 4, None]
