"""A job as it is drawn on a terminal."""

import io

from msgspec.structs import replace
from rich.console import Console, RenderableType

from api.answers import Gate
from api.delivery_answers import JobDelivery
from api.schedule_answers import Schedule
from services.cli.drawing import delivery_table, drawn_job, gate_line, schedule_table, trace_tree, transition_rows
from tests.unit.cli.jobs import job, transition, visit

RETRIED = [
    visit("entry", 0, 0, edge="default", next_node="fetch"),
    visit("fetch", 10, 20, provider="direct", status_code=503, outcome="failed", error_type="http_5xx"),
    visit("fetch", 230, 240, provider="direct", attempt=2, status_code=200, edge="success", next_node="extract"),
    visit("extract", 240, 250, edge="success", next_node="warehouse"),
]


def drawn(part: RenderableType) -> list[str]:
    """Return the lines of a drawing, without colours."""
    console = Console(file=io.StringIO(), width=120, color_system=None)
    console.print(part)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_node_that_was_tried_again_gets_a_branch_with_a_leaf_per_try() -> None:
    assert drawn(trace_tree(job(execution_trace=RETRIED))) == [
        "job-1 completed after 1.50 s",
        "https://shop.example/1",
        "├── entry  succeeded in 0 ms, default → fetch",
        "├── fetch by direct",
        "│   ├── try 1  503 failed (http_5xx) in 10 ms, again 210 ms later",
        "│   └── try 2  200 succeeded in 10 ms, success → extract",
        "└── extract  succeeded in 10 ms, success → warehouse",
    ]


def test_a_failed_job_says_which_rule_refused_its_page() -> None:
    refused = visit("fetch", 0, 5, status_code=200, outcome="refused", rule="captcha", edge="fail", next_node="failed")
    failed = job("failed", execution_trace=[refused], error_type="validation_failed")
    lines = drawn(trace_tree(failed))
    assert lines[0] == "job-1 failed: validation_failed (captcha) after 1.50 s"
    assert lines[2] == "└── fetch  200 refused (captcha) in 5 ms, fail → failed"


def test_a_job_that_has_not_ended_says_where_it_hangs() -> None:
    gate = Gate(waived=[], expected=2, acked=1, pending=["webhook-1"], opened_by=[], opened_at=None)
    cases = {
        "pending": "waits for a worker since 12:00:00.000",
        "running": "running at warehouse, last heard of at 12:00:00.000",
        "waiting_retry": "waits for the next try of extract since 12:00:00.000",
        "extraction_done": "waits for webhook-1 since 12:00:00.000",
    }
    for status, expected in cases.items():
        lines = drawn(trace_tree(job(status, ended=None, execution_trace=RETRIED, gate=gate)))
        assert lines[-1] == f"└── {expected}"


def test_each_state_lasts_until_the_next_one_begins() -> None:
    states = [transition("pending", 0), transition("running", 40), transition("completed", 2040)]
    assert list(transition_rows(states)) == [
        ("pending", "12:00:00.000", "40 ms"),
        ("running", "12:00:00.040", "2.00 s"),
        ("completed", "12:00:02.040", ""),
    ]


def test_an_open_gate_names_the_acks_that_opened_it_and_a_closed_one_what_it_waits_for() -> None:
    assert gate_line(job().gate) == "gate: 1 of 1 acknowledged, opened at 12:00:01.500 by ack-1"
    closed = Gate(waived=[], expected=2, acked=1, pending=["webhook-1"], opened_by=[], opened_at=None)
    assert gate_line(closed) == "gate: 1 of 2 acknowledged, waits for webhook-1"


def test_the_gate_of_a_job_that_failed_is_no_matter_any_more() -> None:
    shut = Gate(waived=[], expected=1, acked=0, pending=["internal-postgres"], opened_by=[], opened_at=None)
    assert not any("gate" in line for line in drawn(drawn_job(job("failed", gate=shut))))
    assert any("gate" in line for line in drawn(drawn_job(job("extraction_done", ended=None, gate=shut))))


def test_markup_in_a_url_or_an_error_is_text() -> None:
    lines = drawn(drawn_job(job(url="https://shop.example/[bold]1[/bold]")))
    assert lines[1] == "https://shop.example/[bold]1[/bold]"


def test_a_page_of_schedules_says_when_each_fires_next_and_which_is_disabled() -> None:
    schedule = Schedule(
        schedule_id="sch-1",
        version=1,
        name="prices [bold]",
        cron="0 6 * * *",
        timezone="Europe/Berlin",
        work={"url": "https://shop.example/1"},
        work_omitted=False,
        tags=["daily", "eu"],
        missed="once",
        enabled=True,
        next_run_at="2026-01-02T05:00:00.000000Z",
        last_run_at=None,
        created_at="2026-01-01T12:00:00.000000Z",
        updated_at="2026-01-01T12:00:00.000000Z",
    )
    assert drawn(schedule_table([schedule, replace(schedule, enabled=False, next_run_at=None)])) == [
        "schedule  name           cron       timezone       next (UTC)            last (UTC)  tags",
        "sch-1     prices [bold]  0 6 * * *  Europe/Berlin  2026-01-02T05:00:00Z              daily eu",
        "sch-1     prices [bold]  0 6 * * *  Europe/Berlin  disabled                          daily eu",
    ]


def test_a_delivery_says_what_arrived_where_or_how_often_it_failed_and_when_it_is_tried_again() -> None:
    arrived = JobDelivery(
        destination_id="internal-postgres",
        kind="postgres",
        gating=True,
        on_exhausted="hold",
        generation=1,
        status="acked",
        tries=1,
        requested_at="2026-01-31T12:00:00.000000Z",
        delivered_at="2026-01-31T12:00:01.000000Z",
        next_try_at=None,
        waived_at=None,
        waive_reason=None,
        error_type=None,
        error_message=None,
        rows=1240,
        place="db.table",
        summary="1240 -> db.table",
    )
    failed = replace(
        arrived,
        destination_id="wh-1",
        gating=False,
        status="waiting",
        tries=2,
        delivered_at=None,
        next_try_at="2026-01-31T12:05:00.000000Z",
        error_type="http_503",
        rows=None,
        place=None,
        summary="waiting -> wh-1 (2 tries, http_503)",
    )
    lines = [line.split("  ") for line in drawn(delivery_table([arrived, failed]))]
    first, second = ([cell.strip() for cell in line if cell.strip()] for line in lines[1:])
    assert first == ["internal-postgres (gates)", "1", "acked", "1", "1240 -> db.table"]
    assert second[0] == "wh-1"
    assert "2026-01-31T12:05:00Z" in " ".join(second)
