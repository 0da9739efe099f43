"""From the outcome of a node to what is next."""

from typing import Any

import pytest

from services.ledger.workflow import ServiceNode, ServiceSettings, Workflow, entry_of, node_of
from services.ledger.workflow_reading import document_from
from services.workers.trail import passed
from services.workers.walk import (
    MAX_RETRY_AFTER_MS,
    Continue,
    Errored,
    Exhausted,
    Failures,
    Finished,
    Passed,
    Point,
    Refused,
    Retry,
    after,
    begin,
    retry_delay_ms,
)
from tests.unit.workflow.documents import encoded, good_document

JOB = "job-1"
CAPTCHA = Refused("captcha", "not a robot")
BUSY = Errored("http_5xx", "the site answered 503", retryable=True)
GONE = Errored("http_4xx", "the site answered 404")


def workflow_with(**settings_of_a: Any) -> Workflow:
    document = good_document()
    document["nodes"][1]["settings"] |= settings_of_a
    return document_from(encoded(document))


WORKFLOW = workflow_with()


def test_a_walk_begins_behind_the_entry() -> None:
    assert begin(WORKFLOW, JOB) == Continue(Point("a"))


def test_a_passed_service_leads_to_the_extractor() -> None:
    assert after(WORKFLOW, Point("a"), Passed(), JOB) == Continue(Point("extract"))


def test_the_walk_finishes_at_the_result() -> None:
    assert after(WORKFLOW, Point("warehouse"), Passed(), JOB) == Finished("result")


def test_the_walk_finishes_at_a_warehouse_that_leads_nowhere() -> None:
    document = good_document()
    document["edges"].pop()
    document["nodes"].pop(5)
    assert after(document_from(encoded(document)), Point("warehouse"), Passed(), JOB) == Finished("warehouse")


def test_a_retryable_error_tries_the_same_node_again_while_tries_are_left() -> None:
    step = after(WORKFLOW, Point("a"), BUSY, JOB)
    assert isinstance(step, Retry)
    assert step.point == Point("a", try_number=2)
    assert step.deferred


def test_retries_count_the_first_try() -> None:
    step = after(WORKFLOW, Point("a", try_number=2), BUSY, JOB)
    assert isinstance(step, Continue)
    assert step.point.node_id == "b"
    assert step.point.try_number == 1


def test_an_error_that_will_not_pass_is_not_tried_again() -> None:
    step = after(WORKFLOW, Point("a"), GONE, JOB)
    assert isinstance(step, Continue)
    assert step.point.node_id == "b"


def test_a_verdict_is_not_tried_again_but_takes_the_fail_edge() -> None:
    step = after(WORKFLOW, Point("a"), CAPTCHA, JOB)
    assert isinstance(step, Continue)
    assert step.point == Point("b", 1, Failures(saw_verdict=True, rule="captcha", message="captcha: not a robot"))


@pytest.mark.parametrize(
    ("first", "last", "error_type", "rule"),
    [
        (CAPTCHA, Refused("soft_404"), "validation_failed", "soft_404"),
        (CAPTCHA, GONE, "providers_exhausted", ""),
        (GONE, CAPTCHA, "providers_exhausted", ""),
        (GONE, GONE, "providers_exhausted", ""),
    ],
)
def test_only_verdicts_all_along_make_it_validation_failed(
    first: Refused | Errored, last: Refused | Errored, error_type: str, rule: str
) -> None:
    step = after(WORKFLOW, Point("a"), first, JOB)
    assert isinstance(step, Continue)
    end = after(WORKFLOW, step.point, last, JOB)
    assert isinstance(end, Exhausted)
    assert (end.error_type, end.rule, end.node_id) == (error_type, rule, "b")


def test_an_error_that_a_retry_overcame_does_not_count() -> None:
    workflow = workflow_with()
    retry = after(workflow, Point("a"), BUSY, JOB)
    assert isinstance(retry, Retry)
    step = after(workflow, retry.point, CAPTCHA, JOB)
    assert isinstance(step, Continue)
    assert not step.point.failures.saw_error


def test_a_failure_without_a_fail_edge_ends_the_walk_at_its_node() -> None:
    end = after(WORKFLOW, Point("extract"), Refused("empty_result"), JOB)
    assert end == Exhausted("validation_failed", "empty_result", "extract", "empty_result")


def test_backoff_grows_by_its_factor_up_to_its_cap() -> None:
    settings = ServiceSettings(retry_delay_ms=1000, factor=2, jitter=0, max_delay_ms=5000)
    assert [retry_delay_ms(settings, tries, None, JOB, "a") for tries in (1, 2, 3, 4, 60)] == [
        1000,
        2000,
        4000,
        5000,
        5000,
    ]


def test_jitter_moves_jobs_apart_and_is_the_same_for_the_same_try() -> None:
    settings = ServiceSettings(retry_delay_ms=1000, jitter=0.2)
    delays = {retry_delay_ms(settings, 1, None, f"job-{number}", "a") for number in range(100)}
    assert len(delays) > 50
    assert min(delays) >= 800
    assert max(delays) <= 1200
    assert retry_delay_ms(settings, 1, None, JOB, "a") == retry_delay_ms(settings, 1, None, JOB, "a")


def test_retry_after_is_a_floor_that_is_spread_upwards_only() -> None:
    settings = ServiceSettings(retry_delay_ms=1000, jitter=0.2)
    delays = [retry_delay_ms(settings, 1, 30, f"job-{number}", "a") for number in range(100)]
    assert min(delays) >= 30_000
    assert max(delays) <= 36_000


def test_a_long_retry_after_is_cut() -> None:
    assert retry_delay_ms(ServiceSettings(jitter=0), 1, 10**9, JOB, "a") == MAX_RETRY_AFTER_MS


def test_an_instant_retry_stays_in_place_without_waiting() -> None:
    step = after(workflow_with(retryBackoff="instant"), Point("a"), BUSY, JOB)
    assert step == Retry(Point("a", 2), delay_ms=0, deferred=False)


def test_an_instant_retry_told_to_wait_long_gives_its_slot_back() -> None:
    told = Errored("http_429", "", retryable=True, retry_after_seconds=60)
    step = after(workflow_with(retryBackoff="instant"), Point("a"), told, JOB)
    assert isinstance(step, Retry)
    assert step.deferred


def test_a_split_is_passed_on_the_way() -> None:
    document = good_document()
    document["nodes"].append({"id": "split", "kind": "split"})
    document["edges"][0]["target"] = "split"
    document["edges"].append({"source": "split", "target": "a", "percent": 50})
    document["edges"].append({"source": "split", "target": "b", "percent": 50})
    workflow = document_from(encoded(document))
    step = begin(workflow, JOB)
    assert isinstance(step, Continue)
    assert [passage.node.id for passage in passed(workflow, entry_of(workflow), JOB)] == ["entry", "split"]
    assert isinstance(node_of(WORKFLOW, step.point.node_id), ServiceNode)
