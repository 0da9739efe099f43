"""How many jobs of an org were in which state, by the times of their events."""

from hypothesis import given
from hypothesis import strategies as st

from services.cli.demo_timeline import timelines
from services.ledger.status import Status
from tests.unit.cli.jobs import job, transition


def test_each_change_moves_one_job_from_state_to_state() -> None:
    first = job(transitions=[transition("pending", 0), transition("running", 500), transition("completed", 2000)])
    second = job(
        "failed",
        job_id="job-2",
        transitions=[transition("pending", 0), transition("running", 1000), transition("failed", 1500)],
    )
    [line] = timelines([first, second], ["org-1"])
    assert line.times == [0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.0]
    assert line.counts == {
        "pending": [0, 2, 1, 0, 0, 0, 0],
        "running": [0, 0, 1, 2, 1, 0, 0],
        "completed": [0, 0, 0, 0, 0, 1, 1],
        "failed": [0, 0, 0, 0, 1, 1, 1],
    }


def test_orgs_have_a_line_each_from_the_first_submission_of_all_to_the_last_end_of_all() -> None:
    early = job(transitions=[transition("pending", 0), transition("completed", 100)])
    late = job(org_id="org-2", job_id="job-2", transitions=[transition("pending", 400), transition("completed", 900)])
    one, two, none = timelines([early, late], ["org-1", "org-2", "org-3"])
    assert (one.times[0], one.times[-1]) == (two.times[0], two.times[-1]) == (0.0, 0.9)
    assert two.times[1] == 0.4
    assert one.counts["completed"][-1] == two.counts["completed"][-1] == 1
    assert none.counts == {}


def test_no_job_makes_an_empty_line() -> None:
    [line] = timelines([], ["org-1"])
    assert (line.times, line.counts) == ([0.0, 0.0], {})


ways = st.lists(
    st.lists(st.tuples(st.sampled_from(Status), st.integers(0, 3000)), min_size=1, max_size=6), min_size=1, max_size=8
)


@given(ways)
def test_no_job_is_ever_in_two_states_or_lost(drawn: list[list[tuple[Status, int]]]) -> None:
    jobs = [
        job(
            job_id=f"job-{number}",
            transitions=[
                transition(state, at) for (state, _), at in zip(way, sorted(moment for _, moment in way), strict=True)
            ],
        )
        for number, way in enumerate(drawn)
    ]
    [line] = timelines(jobs, ["org-1"])
    assert all(number >= 0 for counts in line.counts.values() for number in counts)
    totals = [sum(column) for column in zip(*line.counts.values(), strict=True)]
    assert totals == sorted(totals)
    assert totals[-1] == len(jobs)
