"""The bench of streams counts what it says it counts."""

from bench.stream import Viewers, run_once


async def test_every_viewer_of_the_bench_gets_every_event() -> None:
    events, viewers = 10, 5
    cpu_ms, grown = await run_once(viewers, events)
    assert Viewers.got == (3 + events) * viewers  # submitted, dispatched, claimed, and each node
    assert cpu_ms > 0
    assert grown > 0
