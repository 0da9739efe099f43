"""A worker at sealed jobs: it reads their tasks, seals what it reports, and runs nothing of a job without a key."""

from collections.abc import AsyncGenerator

import msgspec

from schemas.private import private_bytes
from services.ledger.replies import Granted
from services.ledger.reports import Extracted, Failed, Logged, NodeReport, RetryLater, Stats
from services.ledger.tasks import Resume, Task
from services.runtime.shredding.codec import sealed, unsealed
from services.runtime.shredding.vault import new_job_key
from services.workers.attempt import Report
from services.workers.sealed import with_keys
from tests.held_keys import HeldKeys
from tests.unit.workers.fakes import JOB, ORG, granted, task

KEY = new_job_key()
NAME = (ORG, JOB)
WHY = private_bytes({"message": "marker"})
NODE = NodeReport(step=0, node_id="a", node_kind="service", private=WHY)


class Walk:
    """An attempt that remembers its task, and reports."""

    def __init__(self, *reports: Report) -> None:
        self.tasks: list[Task] = []
        self._reports = reports

    async def attempt(self, of: Task, _granted: Granted) -> AsyncGenerator[Report]:
        """Run one."""
        self.tasks.append(of)
        for report in self._reports:
            yield report


async def reports(walk: Walk, keys: HeldKeys, of: Task, grant: Granted | None = None) -> list[Report]:
    """Everything that one attempt reports."""
    return [report async for report in with_keys(keys, walk.attempt)(of, grant or granted(1))]


def closed() -> Task:
    """A task whose private bytes are sealed."""
    return msgspec.structs.replace(task(JOB), private=sealed(task(JOB).private, KEY, NAME))


async def test_a_task_in_clear_needs_no_key_and_nothing_is_sealed() -> None:
    keys, walk = HeldKeys(), Walk(Report((NODE,), Failed(error_type="x", private=WHY)))
    [told] = await reports(walk, keys, task(JOB))
    assert told == Report((NODE,), Failed(error_type="x", private=WHY))
    assert keys.looks == 0


async def test_a_sealed_task_is_read_and_every_text_of_its_reports_is_sealed() -> None:
    keys = HeldKeys({NAME: KEY})
    walk = Walk(
        Report((NODE, NODE)),
        Report((NODE,), Failed(error_type="x", private=WHY)),
        Report((), Extracted(result_ref="r")),
    )
    first, second, third = await reports(walk, keys, closed())
    assert walk.tasks == [task(JOB)]
    assert isinstance(second.outcome, Failed)
    texts = [node.private for report in (first, second) for node in report.nodes] + [second.outcome.private]
    assert [unsealed(text, KEY, NAME) for text in texts] == [WHY] * 4
    assert len(set(texts)) == 4
    assert not any(b"marker" in text for text in texts)
    assert third == Report((), Extracted(result_ref="r"))
    assert keys.looks == 1


async def test_lines_and_statistics_of_a_sealed_job_are_sealed_too() -> None:
    said = Logged(number=0, lines=1, private=WHY), Stats(number=0, scraped=1, final=True, private=WHY)
    [told] = await reports(Walk(Report(items=said)), HeldKeys({NAME: KEY}), closed())
    texts = [part.private for part in told.items if isinstance(part, Logged | Stats)]
    assert [unsealed(text, KEY, NAME) for text in texts] == [WHY] * 2
    assert not any(b"marker" in text for text in texts)


async def test_a_sealed_job_waits_for_leave_to_make_a_dearer_call_too() -> None:
    walk = Walk(Report((NODE,), asks=True), Report((NODE,)))
    told = await reports(walk, HeldKeys({NAME: KEY}), closed())
    assert [report.asks for report in told] == [True, False]


async def test_a_job_whose_key_is_gone_is_not_run() -> None:
    for keys in (HeldKeys(), HeldKeys({NAME: new_job_key()})):
        walk = Walk(Report())
        assert await reports(walk, keys, closed()) == [Report((), Failed(error_type="erased"))]
        assert walk.tasks == []


async def test_while_keys_are_away_the_job_waits_where_it_was() -> None:
    walk = Walk(Report())
    grant = Granted(attempt=2, resume=Resume(step=3, node_id="b", try_number=2))
    [told] = await reports(walk, HeldKeys({NAME: KEY}, away=True), closed(), grant)
    assert isinstance(told.outcome, RetryLater)
    assert (told.outcome.node_id, told.outcome.try_number) == ("b", 2)
    assert told.outcome.error_type == "keys_unavailable"
    assert walk.tasks == []
