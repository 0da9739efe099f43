"""What callers of each vocabulary are told of a job: the states of the contracts, and no move that they do not have."""

import pytest

from schemas.values import Vocabulary
from services.ledger.status import TERMINAL, Status
from services.ledger.vocabularies import EXPIRED, NEVER_YET, WORDS, moves, shown, statuses_of

STATES = {
    Vocabulary.WORKFLOW: "pending running waiting_retry extraction_done completed failed cancelled",
    Vocabulary.MODULE: "pending running done failed cancelled expired",
    Vocabulary.SPIDER: "pending dispatched running finished failed killed timed_out lost",
}


@pytest.mark.parametrize("vocabulary", STATES)
def test_each_vocabulary_has_the_states_of_its_contract_and_a_word_for_each_state_of_the_ledger(
    vocabulary: Vocabulary,
) -> None:
    assert set(WORDS[vocabulary].every()) == set(STATES[vocabulary].split())
    assert WORDS[vocabulary].states.keys() == set(Status) - set(NEVER_YET)
    assert {word for _, _, word in moves(vocabulary)} <= set(STATES[vocabulary].split())


def test_a_module_job_never_goes_back_and_leaves_its_end_by_expiry_alone() -> None:
    found = {(before, after) for before, _, after in moves(Vocabulary.MODULE)}
    ends = {"done", "failed", "cancelled"}
    assert found == {
        ("(none)", "pending"),
        ("pending", "running"),
        ("running", "done"),
        *((before, after) for before in ("pending", "running") for after in ("failed", "cancelled")),
        *((end, EXPIRED) for end in ends),
    }


def test_what_stands_beside_the_state_is_told_by_who_tells_it() -> None:
    module, spider, workflow = Vocabulary.MODULE, Vocabulary.SPIDER, Vocabulary.WORKFLOW
    assert shown(module, Status.COMPLETED, expired=True) == "expired"
    assert shown(workflow, Status.COMPLETED, expired=True) == "completed"
    assert shown(module, Status.PENDING, claimed=True) == "running"
    assert [shown(each, Status.PENDING, task_out=True) for each in (module, spider)] == ["pending", "dispatched"]
    assert [shown(each, Status.FAILED, error_type="timed_out") for each in (module, spider)] == ["failed", "timed_out"]


def test_a_state_of_a_vocabulary_leads_back_to_those_of_the_ledger() -> None:
    assert statuses_of(Vocabulary.MODULE, "running") == (
        Status.RUNNING,
        Status.WAITING_RETRY,
        Status.EXTRACTION_DONE,
    )
    assert statuses_of(Vocabulary.MODULE, "done") == (Status.COMPLETED,)
    assert set(statuses_of(Vocabulary.SPIDER, "killed")) < TERMINAL
