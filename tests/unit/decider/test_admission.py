"""Commands that are parked: what followed from them no read model could take, or nobody would have paid."""

from typing import Any

import pytest

from schemas.values import FireKind
from services.decider.admission import fault_of
from services.ledger.commands import AnyCommand, ChangePlan, FireSchedule, NewJob, RegisterOrg, SubmitJobs

NAMES: dict[str, Any] = {"command_id": "c", "org_id": "acme"}
JOBS = SubmitJobs(**NAMES, jobs=(NewJob(job_id="j"),), schedule_id="s")
FIRE: dict[str, Any] = {**NAMES, "schedule_id": "s", "due_at": 1}


@pytest.mark.parametrize(
    "command",
    [
        RegisterOrg(**NAMES, name="n", plan="a\0b"),
        ChangePlan(**NAMES, plan="a\0b"),
        SubmitJobs(**NAMES, jobs=(NewJob(job_id="j"),), jobs_behind=-1),
        FireSchedule(**FIRE, how=FireKind.UNKNOWN),
        FireSchedule(**FIRE, due_times=0),
        FireSchedule(**FIRE, submission=JOBS, refused="internal"),
    ],
)
def test_what_nothing_could_be_made_of_is_not_taken(command: AnyCommand) -> None:
    assert fault_of(command, 100)


@pytest.mark.parametrize(
    "command",
    [
        RegisterOrg(**NAMES, name="n", plan="standard"),
        ChangePlan(**NAMES, plan="bi"),
        JOBS,
        FireSchedule(**FIRE, submission=JOBS),
        FireSchedule(**FIRE, refused="unknown_workflow", how=FireKind.MISSED, due_times=3),
    ],
)
def test_what_our_processes_send_is_taken(command: AnyCommand) -> None:
    assert fault_of(command, 100) is None
