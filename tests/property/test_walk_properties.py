"""Every walk ends, whatever the providers do, and says the right thing about it."""

from hypothesis import given
from hypothesis import strategies as st

from services.ledger.workflow_reading import document_from
from services.workers.walk import (
    Continue,
    Errored,
    Exhausted,
    Finished,
    NodeOutcome,
    Passed,
    Refused,
    Retry,
    after,
    begin,
)
from tests.unit.workflow.documents import encoded, good_document

WORKFLOW = document_from(encoded(good_document()))
OUTCOMES = st.sampled_from(
    [
        Passed(),
        Refused("captcha"),
        Errored("timeout", retryable=True),
        Errored("http_429", retryable=True, retry_after_seconds=5),
        Errored("http_4xx"),
    ]
)
MOST_STEPS = 2 + 3 + 2  # tries of both services, extractor and warehouse


@given(st.lists(OUTCOMES, min_size=MOST_STEPS, max_size=MOST_STEPS), st.text(min_size=1))
def test_a_walk_ends_within_its_tries_and_names_why(outcomes: list[NodeOutcome], job_id: str) -> None:
    step = begin(WORKFLOW, job_id)
    branch_ends: list[NodeOutcome] = []
    for outcome in outcomes:
        assert isinstance(step, Continue)
        following = after(WORKFLOW, step.point, outcome, job_id)
        assert following == after(WORKFLOW, step.point, outcome, job_id)
        if isinstance(following, Retry):
            assert following.delay_ms >= 0
            following = Continue(following.point)
        elif not isinstance(outcome, Passed):
            branch_ends.append(outcome)
        if isinstance(following, Finished | Exhausted):
            break
        step = following
    else:
        raise AssertionError("the walk goes on after every try was used")
    if isinstance(following, Exhausted):
        only_verdicts = all(isinstance(end, Refused) for end in branch_ends)
        assert following.error_type == ("validation_failed" if only_verdicts else "providers_exhausted")
    else:
        assert isinstance(outcome, Passed)
