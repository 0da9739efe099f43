"""What a refusal of the ledger means to a caller, and what its silence does: the same for every call."""

from collections.abc import Iterator
from contextlib import contextmanager

from api.errors import CODES, Problem, not_found
from services.ledger.replies import Answer, Done, Refused, Reply
from services.runtime.errors import BrokerFault, LedgerUnavailable

QUEUE_FULL_SECONDS = 5  # after which it is worth while to ask again


def problem_of(refused: Refused) -> Problem:
    """Return the answer for a call that the ledger refused; a code that no call can lead to is a fault of ours."""
    match refused.code:
        case "unknown_job":
            return not_found("job")
        case "archive_unavailable":
            message = "the ledger cannot look this job up now: ask again"
            return Problem("ledger_unavailable", message)
        case "unknown_destination" | "bad_generation":  # of a job that went on since it was looked up
            return Problem("not_deliverable", refused.message)
        case "idempotency_conflict" as code:
            message = "this Idempotency-Key came with another request before: use a new key for a new request"
            return Problem(code, message, field="Idempotency-Key")
        case "queue_full" as code:
            return Problem(code, refused.message, headers={"Retry-After": str(QUEUE_FULL_SECONDS)})
        case "quota_exhausted" as code:
            details = {"askedCredits": refused.asked, "remainingCredits": refused.remaining}
            return Problem(code, refused.message, details=details)
        case "job_terminal":
            return ended(refused.status)
        case "not_waiting" as code:
            return Problem(code, f"{refused.message}: only a job in waiting_retry can be hurried")
        case code if code in CODES:
            return Problem(code, refused.message)
        case code:
            raise RuntimeError(f"the ledger refused a call of a registered org with {code}: {refused.message}")


def accepted(reply: Reply) -> Answer:
    """Return what the ledger answered, or raise what its refusal means to the caller."""
    if isinstance(reply.body, Refused):
        raise problem_of(reply.body)
    return reply.body


def done(reply: Reply) -> Done:
    """Return the answer to a command of a registered org that has no other one, or raise as `accepted` does."""
    body = accepted(reply)
    if not isinstance(body, Done):
        raise RuntimeError(f"the ledger answered a command of a registered org with {body}")
    return body


def ended(status: str) -> Problem:
    """Return the answer for a change of a job that has ended."""
    details = {"status": status} if status else {}
    return Problem("job_terminal", "the job has ended, and its end is never changed", details=details)


@contextmanager
def repeatable(key: str) -> Iterator[None]:
    """Where the ledger is silent, name the key under which the request can be repeated."""
    try:
        yield
    except (LedgerUnavailable, BrokerFault):
        message = "no decider answered in time: repeat the request with this Idempotency-Key, nothing will double"
        raise Problem("ledger_unavailable", message, headers={"Idempotency-Key": key}) from None
