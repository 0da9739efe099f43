"""Records end when all they carry is answered; notices wait for the read model; repeats join."""

import pytest

from schemas.values import After
from services.ledger.commands import AnyCommand
from services.writers.webhook import dispatch
from tests.eventually import eventually
from tests.receiver import receiving
from tests.unit.webhook import fakes
from tests.unit.webhook.fakes import desk, hook


async def test_a_record_is_done_only_when_every_delivery_in_it_is_answered() -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/fast")
        at.endpoints.add("wh-2", f"{receiver.url}/slow")
        released = receiver.hangs("/slow")
        await at.take(hook(1), hook(1, "wh-2"))
        await at.take(hook(2))
        await eventually(lambda: at.done == [1] and len(at.results()) == 2)
        released.set()
        await eventually(lambda: at.done == [1, 0])
        assert {(each.destination_id, each.error_type) for each in at.results()} == {("wh-1", ""), ("wh-2", "")}


async def test_a_notice_waits_until_the_read_model_has_the_end_of_its_job_and_a_record_asks_once() -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")
        done = {"after": After.COMPLETED}
        notices = [hook(n, "wh-1:job.completed", ended_position=10 + n, **done) for n in range(50)]
        await at.take(hook(99), *notices)
        await eventually(lambda: len(receiver.got["/"]) == 1)
        await at.positions.fold(3, 58)
        await at.take(hook(100))
        await eventually(lambda: len(receiver.got["/"]) == 2)
        await at.positions.fold(3, 59)
        await eventually(lambda: len(receiver.got["/"]) == 52)
        assert at.positions.looks == 1


async def test_a_repeat_of_a_delivery_that_is_on_its_way_is_not_sent_twice_and_answered_as_the_newest_try() -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")
        released = receiver.hangs("/")
        await at.take(hook(1))
        await eventually(lambda: len(receiver.got["/"]) == 1)
        await at.take(hook(1, try_number=2))
        released.set()
        await eventually(lambda: sorted(at.done) == [0, 1])
        assert [(each.try_number, each.error_type) for each in at.results()] == [(2, "")]
        assert len(receiver.got["/"]) == 1


async def test_a_later_try_that_comes_while_the_answer_to_the_one_before_is_told_is_sent_and_answered_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")
        receiver.says("/", 500)
        tell, later = at.ledger.tell, [hook(1, try_number=2)]

        async def tell_and_hear_at_once(partition: int, command: AnyCommand) -> None:
            await tell(partition, command)
            if later:
                await at.take(later.pop())

        monkeypatch.setattr(at.ledger, "tell", tell_and_hear_at_once)
        await at.take(hook(1))
        await eventually(lambda: sorted(at.done) == [0, 1])
        assert [(each.try_number, each.error_type) for each in at.results()] == [(1, "http_500"), (2, "http_500")]
        assert len(receiver.got["/"]) == 2


async def test_what_its_endpoint_has_no_room_for_is_left_to_the_ledger_to_send_again() -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")
        receiver.hangs("/")
        for number in range(fakes.SETTINGS.webhook_calls):
            await at.take(hook(number))
        await eventually(lambda: receiver.under_way == fakes.SETTINGS.webhook_calls)
        await at.take(*(hook(100 + number) for number in range(dispatch.WAITING_PER_ENDPOINT)))
        beyond = await at.take(hook(9_000))
        await eventually(lambda: beyond in at.done)
        assert at.results(job_id="job-9000") == []


async def test_notices_beyond_what_may_wait_for_postgres_are_left_to_the_ledger_and_data_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatch, "UNFOLDED", 2)
    done: dict[str, object] = {"after": After.COMPLETED, "ended_position": 1}
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")
        held = await at.take(hook(1, "wh-1:job.completed", **done), hook(2, "wh-1:job.completed", **done))
        left = await at.take(hook(3, "wh-1:job.completed", **done))
        data = await at.take(hook(4))
        await eventually(lambda: {left, data} <= set(at.done))
        assert [each.job_id for each in at.results()] == ["job-4"]
        await at.positions.fold(3, 1)
        await eventually(lambda: held in at.done)
        assert len(at.results()) == 3


async def test_a_record_without_deliveries_is_done_at_once() -> None:
    async with desk() as at:
        await at.take()
        assert at.done == [0]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_an_endpoint_that_asks_for_a_pause_is_left_alone_and_the_others_are_not_delayed(status: int) -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/busy")
        at.endpoints.add("wh-2", f"{receiver.url}/other")
        receiver.says("/busy", status, Retry_After="600")
        await at.take(hook(1))
        await eventually(lambda: len(at.results(error_type=f"http_{status}")) == 1)
        waiting = [hook(100 + number) for number in range(dispatch.WAITING_FOR_THROTTLED)]
        await at.take(*waiting)
        beyond = await at.take(hook(9_000))
        other = await at.take(hook(2, "wh-2"))
        await eventually(lambda: {beyond, other} <= set(at.done))
        assert len(receiver.got["/busy"]) == 1
        assert [each.job_id for each in at.results()] == ["job-1", "job-2"]  # who waits has used up no try


async def test_what_waited_for_a_pause_goes_out_afterwards_one_by_one_at_first() -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/busy")
        receiver.says("/busy", 429, Retry_After="0")
        await at.take(hook(1))
        await eventually(lambda: len(at.results(error_type="http_429")) == 1)
        released = receiver.hangs("/busy")
        await at.take(*(hook(number) for number in range(2, 20)))
        await eventually(lambda: receiver.under_way == 1)
        assert len(receiver.got["/busy"]) == 2
        released.set()
        await eventually(lambda: len(at.results(error_type="")) == 18)
