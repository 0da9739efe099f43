"""What the decider does not take, although it is a command: nothing that it led to could be written or used."""

from schemas.storable import is_storable
from schemas.values import FireKind
from services.ledger.commands import AnyCommand, ChangePlan, FireSchedule, RegisterOrg, SubmitJobs
from services.runtime.topics import DELIVERY_KINDS, TASK_KINDS

MAX_COMMAND_BYTES = 900 * 1024  # an event or task holds what its command held, in a record of 1,000,000 bytes


def fault_of(command: AnyCommand, size: int) -> str | None:
    """Return what is wrong with a command of this size in bytes, or None."""
    if size > MAX_COMMAND_BYTES:
        return f"{size} bytes, and an event of it would have no room in a record"
    if not is_storable(command.org_id + command.job_id):
        return "an id with a NUL, which no store takes"
    match command:
        case RegisterOrg(org_id=""):
            return "an org without an id"
        case RegisterOrg(plan=plan) | ChangePlan(plan=plan) if not is_storable(plan):
            return "a plan with a NUL, which no store takes"
        case SubmitJobs():
            return _submission_fault(command)
        case FireSchedule():
            return _fire_fault(command)
        case _:
            return None


def _fire_fault(command: FireSchedule) -> str | None:
    submission = command.submission
    if not command.schedule_id or not is_storable(command.schedule_id):
        return "a schedule whose id is empty or holds a NUL"
    if command.how is FireKind.UNKNOWN or command.due_times < 1:
        return "a fire of an unknown kind, or for no due time"
    if command.refused and submission is not None:
        return "a fire that is refused and submits jobs"
    if submission is None:
        return None
    if (submission.org_id, submission.schedule_id) != (command.org_id, command.schedule_id):
        return "a fire whose jobs are of another org or schedule"
    return _submission_fault(submission)


def _submission_fault(command: SubmitJobs) -> str | None:
    job_ids = [job.job_id for job in command.jobs]
    if not all(job_ids) or len(set(job_ids)) < len(job_ids) or not is_storable("".join(job_ids)):
        return "ids of jobs that are empty, hold a NUL or come twice"
    if command.jobs_behind < 0:
        return f"{command.jobs_behind} jobs behind it"
    if command.vocabulary not in TASK_KINDS:
        return f"no topic of tasks for {command.vocabulary} jobs"
    unknown = sorted({place.kind for place in command.destinations}.difference(DELIVERY_KINDS))
    return f"no topic of deliveries for {', '.join(unknown)}" if unknown else None
