"""What a workflow asks of its pages counts where a worker judges them, and a verdict tells by what it came about."""

from typing import Any

import pytest

from schemas.values import NodeOutcome
from services.ledger.reports import Extracted, Failed
from services.workers.providers.protocol import Fetched
from tests.unit.workers.fakes import page, service, workflow
from tests.unit.workers.test_attempt import CAPTCHA, Run, said

WALL = page(b"<html><head><title>Sign in</title></head><body><form><h1>Sign in</h1><input type=password></form></html>")
ASKED: list[tuple[dict[str, Any], str]] = [
    ({"requiredSelector": "main .price"}, "required_selector"),
    ({"minTextChars": 100_000}, "too_short"),
    ({"contentTypes": ["application/json"]}, "wrong_content_type"),
]


@pytest.mark.parametrize(("asked", "rule"), ASKED, ids=[rule for _, rule in ASKED])
async def test_a_page_is_refused_by_the_rule_of_its_node_and_taken_by_a_node_without_it(
    asked: dict[str, Any], rule: str
) -> None:
    run = await Run(workflow(service("a", validation=asked), service("b")), page(), page()).go()
    visits = [(node.outcome, node.rule) for node in run.nodes if node.provider]
    assert visits == [(NodeOutcome.REFUSED, rule), (NodeOutcome.SUCCEEDED, "")]
    assert isinstance(run.outcome, Extracted)


@pytest.mark.parametrize(("allow", "rule"), [([], "login_wall"), (["login_wall"], "")])
async def test_a_verdict_that_a_node_allows_refuses_nothing_there(allow: list[str], rule: str) -> None:
    run = await Run(workflow(service("a", validation={"allow": allow})), WALL).go()
    [visit] = [node for node in run.nodes if node.provider]
    assert visit.rule == rule


@pytest.mark.parametrize(("wall", "words"), [(CAPTCHA, "robot"), (WALL, "sign in")])
async def test_the_trace_and_the_end_of_the_job_tell_the_evidence(wall: Fetched, words: str) -> None:
    run = await Run(workflow(service("a")), wall).go()
    [visit] = [node for node in run.nodes if node.provider]
    evidence = said(visit.private)["message"]
    assert words in evidence.lower()
    assert isinstance(run.outcome, Failed)
    assert said(run.outcome.private)["message"] == f"{visit.rule}: {evidence}"
