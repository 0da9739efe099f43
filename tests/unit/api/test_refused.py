"""What callers are told where the ledger refuses."""

import ast
from pathlib import Path

import pytest

import services.decider
import services.ledger
from api.errors import CODES, Problem
from api.refused import problem_of, repeatable
from services.ledger.replies import Refused
from services.runtime.errors import LedgerUnavailable

# What the ledger refuses to others than callers of the API, or what the API does not ask for.
NOT_TOLD = {
    "bad_credits": "told with the field of the body that it is about",
    "bad_limit": "the range of a limit is checked before the ledger is asked",
    "bad_workflow": "only a workflow with a name is paused",
    "gating_notice": "no notice that the API makes gates",
    "job_deleted": "said to workers",
    "not_claimed": "said to workers",
    "not_dispatched": "said to workers",
    "not_ended": "said to the scheduler",
    "not_settled": "said to the scheduler",
    "retained": "said to the scheduler",
    "stale_attempt": "said to workers",
    "too_late": "said to the scheduler; a trigger is never late",
    "unknown_org": "a key opens only what is registered",
}


def refusals() -> set[str]:
    """Return the codes of the refusals that decider and ledger make."""
    found = set()
    for package in (services.ledger, services.decider):
        for path in Path(str(package.__file__)).parent.glob("*.py"):
            calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
            for call in calls:
                if isinstance(call.func, ast.Name) and call.func.id == "Refused":
                    found |= {each for word in call.keywords if word.arg == "code" for each in _codes(word.value)}
    return found


def _codes(value: ast.expr) -> set[str]:
    return {str(node.value) for node in ast.walk(value) if isinstance(node, ast.Constant)}


def test_every_refusal_of_the_ledger_that_a_call_can_meet_is_told_by_a_code_of_the_table() -> None:
    codes = refusals()
    assert {"queue_full", "unknown_job", "too_many_paused"} <= codes
    for code in codes - NOT_TOLD.keys():
        assert problem_of(Refused(code=code)).code in CODES
    for code in NOT_TOLD:
        assert code in codes
        with pytest.raises(RuntimeError, match=code):
            problem_of(Refused(code=code))


def test_a_refusal_says_what_the_caller_needs_to_go_on() -> None:
    full = problem_of(Refused(code="queue_full", message="full"))
    assert (full.status, int(full.headers["Retry-After"])) == (429, 5)
    broke = problem_of(Refused(code="quota_exhausted", message="broke", asked=3, remaining=1))
    assert (broke.status, broke.body["askedCredits"], broke.body["remainingCredits"]) == (402, 3, 1)
    assert problem_of(Refused(code="job_terminal", status="failed")).body["status"] == "failed"
    assert problem_of(Refused(code="archive_unavailable")).status == 503


def test_whatever_is_unavailable_says_when_to_ask_again() -> None:
    unavailable = [code for code, (status, _) in CODES.items() if status == 503]
    assert unavailable
    assert all(int(Problem(code, "ask again").headers["Retry-After"]) > 0 for code in unavailable)


def test_where_the_ledger_is_silent_the_key_of_a_repeat_is_named() -> None:
    with pytest.raises(Problem) as silent, repeatable("key-1"):
        raise LedgerUnavailable("nobody")
    assert (silent.value.status, silent.value.headers["Idempotency-Key"]) == (503, "key-1")
