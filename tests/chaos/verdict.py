"""What has to be true after all of it: four lists that have to be empty, each entry naming what it is about.

- lost: acknowledged and gone, or never come to an end; delivered according to the log and not where it belongs
- doubled: recorded, ended, claimed, or delivered under two names, more than once
- illegal: what no log, read model or answer may say
- early gates: completed before the last of the destinations that it waits for had everything
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.json import decode

from projections.verification.faults import Fault
from schemas import events as e
from schemas.private import private_json
from schemas.recorded import Recorded
from tests.chaos.receiver import About, Receiver
from tests.chaos.traffic import ASIDE, MAIN, WITH_ASIDE, Told
from tests.simulation.story import Story

NOTICES = {"completed": "job.completed", "failed": "job.failed"}
DATA = "job.extracted"
ENDS = (e.JobCompleted, e.JobFailed, e.JobCancelled)
MORE_THAN_ONCE = ("submitted twice", "its id was used before", "answered after its ACK")  # of what a history says


@dataclass(slots=True)
class Verdict:
    """What is wrong."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    illegal: list[str] = field(default_factory=list)
    early_gates: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is."""
        return not (self.lost or self.doubled or self.illegal or self.early_gates)


def judge_log(verdict: Verdict, by_job: Mapping[str, Sequence[Recorded]]) -> None:
    """Judge the events of each job by themselves."""
    jobs_of_page: defaultdict[str, set[str]] = defaultdict(set)
    for job_id, recorded in by_job.items():
        seen: Counter[str] = Counter()
        for each in recorded:
            match each.event:
                case e.JobSubmitted(private=private):
                    seen["submission"] += 1
                    jobs_of_page[url_of(private)].add(job_id)
                case e.JobClaimed(attempt=attempt):
                    seen[f"claim of attempt {attempt}"] += 1
                case e.DeliveryAcked(destination_id=name, generation=generation):
                    seen[f"ACK of {name} generation {generation}"] += 1
                case e.JobCompleted() | e.JobFailed() | e.JobCancelled():
                    seen["end"] += 1
        verdict.doubled += [f"{job_id}: {what} recorded {times} times" for what, times in seen.items() if times > 1]
        verdict.early_gates += [f"{job_id}: {missing}" for missing in early(recorded)]
    verdict.doubled += [
        f"{url} was asked for once and is {jobs}" for url, jobs in jobs_of_page.items() if len(jobs) > 1
    ]


def early(recorded: Iterable[Recorded]) -> Iterator[str]:
    """Yield the destinations that a completed job waited for and that had not answered."""
    gating: set[str] = set()
    for each in recorded:
        match each.event:
            case e.JobSubmitted(destinations=destinations):
                gating = {place.destination_id for place in destinations if place.gating}
            case e.DeliveryAcked(destination_id=name) | e.DeliveryWaived(destination_id=name):
                gating.discard(name)
            case e.JobCompleted():
                yield from (f"completed without {name}" for name in gating)


def judge_history(verdict: Verdict, wrong: Iterable[str]) -> None:
    """Sort what the fold of the log complains of."""
    for each in wrong:
        if any(words in each for words in MORE_THAN_ONCE):
            verdict.doubled.append(each)
        elif "completed without" in each:
            verdict.early_gates.append(each)
        else:
            verdict.illegal.append(each)


def judge_faults(verdict: Verdict, faults: Iterable[Fault]) -> None:
    """Sort what `jobledger verify` found between the log, its chain, the read models and the destinations."""
    for fault in faults:
        if "gate" in fault.place or fault.field in ("gate", "opened_by"):
            verdict.early_gates.append(str(fault))
        elif fault.found == "none":
            verdict.lost.append(str(fault))
        elif fault.expected == "none" or "one too many" in fault.found:
            verdict.doubled.append(str(fault))
        else:
            verdict.illegal.append(str(fault))


def judge_told(verdict: Verdict, told: Told, stories: Mapping[str, Story], statuses: Mapping[str, str]) -> None:
    """Hold what customers were told, then and now, against the log."""
    verdict.doubled += told.doubled
    verdict.illegal += told.refused
    verdict.lost += [f"{told.unanswered} calls never had an answer"] if told.unanswered else []
    for job_id, asked in told.accepted.items():
        story = stories.get(job_id)
        if story is None:
            verdict.lost.append(f"{job_id} of {asked.org_id} was accepted and is not in the log")
            continue
        if job_id not in statuses:
            verdict.lost.append(f"{job_id} of {asked.org_id} was accepted and the API does not know it")
        elif statuses[job_id] != story.status:
            verdict.illegal.append(f"{job_id} is {statuses[job_id]} for the API and {story.status} in the log")
        if story.status == "completed" and asked.kind.state != "completed":
            verdict.illegal.append(f"{job_id} is completed with a page of kind {asked.kind.name}: {asked.url}")
    for job_id in told.cancelled:
        if job_id in stories and stories[job_id].status != "cancelled":
            verdict.illegal.append(f"{job_id} was said to be cancelled and is {stories[job_id].status}")


def judge_ends(verdict: Verdict, stories: Mapping[str, Story]) -> None:
    """Every job has to end, and everything that its end owes has to be delivered."""
    for job_id, story in stories.items():
        if not story.terminal:
            verdict.lost.append(f"{job_id} has not ended: {story.status}")
        elif waiting := story.unsettled():
            verdict.lost.append(f"{job_id} ({story.status}) still owes {waiting}")
        given_up = [place for (place, _), delivery in story.deliveries.items() if delivery.over]
        verdict.lost += [f"{job_id}: the delivery to {place} was given up" for place in given_up]


def judge_receiver(
    verdict: Verdict, receiver: Receiver, stories: Mapping[str, Story], by_job: Mapping[str, Sequence[Recorded]]
) -> None:
    """Hold the receiver's own record against the log: one message about each thing, the same bytes at each try."""
    for message_id, message in receiver.messages.items():
        if len(message.bodies) > 1:
            verdict.doubled.append(f"{message_id} came with {len(message.bodies)} bodies: {message.about}")
    came = receiver.by_subject()
    for about, ids in came.items():
        if len(ids) > 1:
            verdict.doubled.append(f"{about} came under {len(ids)} webhook-ids")
        if about.job_id not in stories:
            verdict.illegal.append(f"{about} is about a job that is not in the log")
    for job_id, story in stories.items():
        for about in owed(job_id, story):
            if about not in came:
                verdict.lost.append(f"{about} never came to the receiver")
        if story.status in NOTICES:
            _check_times(verdict, receiver, came, job_id, story, by_job[job_id])
        elif wrong := [about for about in came if about.job_id == job_id and about.type in NOTICES.values()]:
            verdict.illegal.append(f"{wrong}: the job is {story.status}")


def owed(job_id: str, story: Story) -> Iterator[About]:
    """Yield what the receiver has to have been told about a job that has ended."""
    hooks = (MAIN, ASIDE) if story.org_id == WITH_ASIDE else (MAIN,)
    for hook in hooks:
        if story.status == "completed":
            yield About(story.org_id, hook, DATA, job_id)
        if story.status in NOTICES:
            yield About(story.org_id, hook, NOTICES[story.status], job_id)


def _check_times(
    verdict: Verdict,
    receiver: Receiver,
    came: Mapping[About, list[str]],
    job_id: str,
    story: Story,
    recorded: Sequence[Recorded],
) -> None:
    """The gating hook had its data before the job was completed, and no notice came before its end."""
    ended_at = next(each.header.occurred_at for each in recorded if isinstance(each.event, ENDS))
    first = {
        type_: min(receiver.messages[each].first_at for each in came[about])
        for type_ in (DATA, *NOTICES.values())
        if (about := About(story.org_id, MAIN, type_, job_id)) in came
    }
    if story.status == "completed" and first.get(DATA, ended_at) > ended_at:
        verdict.early_gates.append(f"{job_id} was completed before its webhook had the data")
    for type_ in NOTICES.values():
        if type_ in first and (type_ != NOTICES[story.status] or first[type_] < ended_at):
            verdict.illegal.append(f"{job_id}: {type_} came to a job that is {story.status}, or before its end")


def url_of(private: bytes) -> str:
    """Return the url of a submission."""
    return str(decode(private_json(private) or b"{}")["url"])
