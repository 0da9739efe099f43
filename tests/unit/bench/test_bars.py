"""The committed figures of what has a bar are within it: who measures worse ones has to see to that, or say so here."""

import json

import msgspec

from bench import gate, queue, webhooks


def test_a_job_costs_no_more_than_a_fifth_more_with_a_million_pending_than_with_a_thousand() -> None:
    figures = msgspec.json.decode(queue.RESULTS.read_bytes(), type=queue.Figures)
    assert [depth.pending for depth in figures.depths] == [1_000, 10_000, 100_000, 1_000_000]
    assert max(depth.ratio for depth in figures.depths) <= 1.2
    assert figures.depths[0].ratio == 1.0


def test_the_gate_refuses_no_good_page_and_24_of_26_bad_ones_by_the_right_rule() -> None:
    report = msgspec.json.decode(gate.RESULTS.read_bytes(), type=gate.Report)
    bad = [row for row in report.rows if row.label != gate.GOOD]
    [good] = [row for row in report.rows if row.label == gate.GOOD]
    assert (good.pages, good.right, good.held_out) == (30, 30, 30)
    assert sum(row.pages for row in bad) == 26
    assert sum(row.right for row in bad) >= 24


def test_while_one_endpoint_of_20_hangs_the_others_get_300_messages_a_second_within_one() -> None:
    assert (webhooks.ENDPOINTS, webhooks.RATE, webhooks.HANG_SECONDS) == (20, 300, 30.0)
    assert webhooks.SECONDS > webhooks.HANG_SECONDS
    figures = json.loads(webhooks.RESULTS.read_text("utf-8"))
    assert figures["messages_per_second"] >= 299
    assert figures["p95_ms"] < 1000


def test_faust_reaches_more_than_half_of_what_the_reader_does_as_long_as_the_writers_stay_on_it() -> None:
    kept = queue.RESULTS.with_name("warehouses.json")  # its bench brings all drivers with it
    consuming = json.loads(kept.read_text("utf-8"))["consuming"]
    reached = {each["items"]: each["reached"] for each in consuming}
    assert sorted(reached) == [1, 10, 100]
    assert reached[100] > 0.5
