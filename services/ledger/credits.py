"""The rules of credits: what jobs and calls cost, whether an org can pay, and what is given back.

A balance never falls below zero: whatever takes from it asks first, here, where alone it changes.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from schemas.credit_events import CreditsGranted, CreditsHeld, CreditsReleased, OrgPlanChanged
from schemas.events import AnyEvent, JobCancelled, JobFailed
from schemas.private import private_bytes
from schemas.values import Vocabulary
from services.ledger.commands import ChangePlan, GrantCredits, RegisterOrg, SetCredits, SubmitJobs
from services.ledger.job import Job
from services.ledger.plans import plan_named
from services.ledger.queue_limits import QUEUE_EXPIRED, known
from services.ledger.replies import Refused
from services.ledger.reports import NodeReport
from services.ledger.state import Ledger, Org

MAX_CREDITS = 10**12  # that an org can be given; what comes back to it may lift its balance above
QUOTA = "quota_exhausted"
PLATFORM_FAULTS = frozenset({"worker_lost", "internal", QUEUE_EXPIRED})  # nothing of it is the customer's doing


def job_price(ledger: Ledger, org: Org, vocabulary: Vocabulary) -> int:
    """Return what a job of an org costs when it is submitted."""
    return ledger.policy.prices.job if org.account.metered and vocabulary is Vocabulary.WORKFLOW else 0


def cannot_pay(ledger: Ledger, command: SubmitJobs) -> Refused | None:
    """Return why a submission is refused: all its jobs are paid for, those of its later commands too, or none is."""
    org = ledger.orgs[command.org_id]
    price = job_price(ledger, org, command.vocabulary)
    if command.item_credits and not known(ledger, org, command.idempotency_digest):
        return cannot_pay_items(org, command.item_credits)
    if not price or known(ledger, org, command.idempotency_digest):
        return None
    new = sum(job.job_id not in ledger.jobs for job in command.jobs)
    asked = price * (new + command.jobs_behind) if new else 0
    left = org.account.balance + org.account.holds.get(hold_of(command), 0)
    if asked <= left:
        return None
    message = f"this takes {asked} credits, and {left} are left"
    return Refused(code=QUOTA, message=message, asked=asked, remaining=left)


def cannot_pay_items(org: Org, price: int) -> Refused | None:
    """Return why a job is refused whose planned items cost so much each: not even one of them can be paid."""
    left = org.account.balance
    if not org.account.metered or price <= left:
        return None
    message = f"an item of this takes {price} credits, and {left} are left"
    return Refused(code=QUOTA, message=message, asked=price, remaining=left)


def hold_of(command: SubmitJobs) -> bytes:
    """Return under which id credits are set aside for a submission of many commands: the digest of its first."""
    return command.first_digest or command.idempotency_digest


def set_aside(ledger: Ledger, command: SubmitJobs, price: int, new: int, now: int) -> list[AnyEvent]:
    """Return the event that holds credits for the later commands of a submission, or takes from what is held for it."""
    if command.jobs_behind and price:
        held, end = price * command.jobs_behind, now + ledger.policy.hold_lifetime
        return [CreditsHeld(org_id=command.org_id, hold_id=hold_of(command), credits=held, expires_at=end)]
    used = min(ledger.orgs[command.org_id].account.holds.get(hold_of(command), 0), price * new)
    return [CreditsReleased(org_id=command.org_id, hold_id=hold_of(command), credits=used)] if used else []


def expire(ledger: Ledger, org_id: str, hold_id: bytes) -> list[AnyEvent]:
    """Return the event that gives back what was set aside and not used in time."""
    org = ledger.orgs.get(org_id)
    held = org.account.holds.get(hold_id, 0) if org else 0
    return [CreditsReleased(org_id=org_id, hold_id=hold_id, credits=held)] if held else []


def pays_surcharges(ledger: Ledger, job: Job) -> bool:
    """Whether some calls of a job cost more than the job: one that cost nothing pays nothing later either."""
    prices = ledger.policy.prices
    surcharged = prices.render or prices.fallback
    return bool(surcharged and job.terms.credits and ledger.orgs[job.org_id].account.metered)


@dataclass(slots=True)
class Purse:
    """What a job may spend while one report is decided."""

    ledger: Ledger
    pays: bool
    left: int
    pays_items: bool = False

    def pay(self, node: NodeReport) -> int | None:
        """Return the surcharge of the call that follows a node, taken from what is left; None: it cannot be paid."""
        prices = self.ledger.policy.prices
        price = prices.render * node.next_renders + prices.fallback * node.next_is_fallback
        if not self.pays or not price:
            return 0
        if price > self.left:
            return None
        self.left -= price
        return price

    def pay_items(self, price: int) -> int:
        """Return what is debited for what a worker did already: its price, or what is left where that is less."""
        paid = min(price, self.left) if self.pays_items else 0
        self.left -= paid
        return paid


def purse_of(ledger: Ledger, job: Job) -> Purse:
    """Return what a job may spend now."""
    account = ledger.orgs[job.org_id].account
    return Purse(ledger, pays_surcharges(ledger, job), account.balance, account.metered)


def ran_out(job: Job, node: NodeReport) -> JobFailed:
    """Return the end of a job whose next call cannot be paid."""
    return JobFailed(
        org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, error_type=QUOTA, node_id=node.next_node_id
    )


def ran_out_of_items(job: Job) -> JobFailed:
    """Return the end of a job whose items cannot be paid any more; what is recorded of them stays."""
    private = private_bytes({"message": "no credits are left for its next items; resume it when there are"})
    return JobFailed(org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, private=private, error_type=QUOTA)


def with_refund(ledger: Ledger, event: AnyEvent) -> AnyEvent:
    """Return the end of a job with what it gives back, whatever rule ended it; any other event as it is.

    A job ends once, so it is refunded once.
    """
    match event:
        case JobFailed():
            due = event.error_type in PLATFORM_FAULTS
        case JobCancelled():
            due = not event.attempt
        case _:
            return event
    job = ledger.jobs.get(event.job_id)
    if job is None or not due:
        return event
    cost = job.terms.credits + job.run.surcharged
    return replace(event, refund=cost) if cost else event


def bad_amount(ledger: Ledger, command: RegisterOrg | GrantCredits | SetCredits) -> Refused | None:
    """Return why an amount is refused; none that is in effect already."""
    org = ledger.orgs.get(command.org_id)
    if isinstance(command, RegisterOrg):
        least, most = 0, MAX_CREDITS
    elif org is None or known(ledger, org, command.idempotency_digest):
        return None
    else:
        granted = isinstance(command, GrantCredits)
        least, most = (1, MAX_CREDITS - org.account.balance) if granted else (0, MAX_CREDITS)
    if command.credits is None or least <= command.credits <= most:
        return None
    message = f"from {least} to {most}" if least <= most else f"nothing: the org has {MAX_CREDITS} credits already"
    return Refused(code="bad_credits", message=message)


def grant(ledger: Ledger, command: GrantCredits | SetCredits) -> list[AnyEvent]:
    """Return the event that gives an org credits, or sets its balance; none for a key that came before."""
    org = ledger.orgs[command.org_id]
    if known(ledger, org, command.idempotency_digest):
        return []
    before = 0 if isinstance(command, GrantCredits) else org.account.balance
    return [
        CreditsGranted(
            org_id=command.org_id,
            credits=command.credits - before,
            idempotency_digest=command.idempotency_digest,
            request_digest=command.request_digest,
        )
    ]


def change_plan(ledger: Ledger, command: ChangePlan) -> OrgPlanChanged:
    """Return the event that puts an org on a plan: from here on it is metered or not as the plan says."""
    metered = plan_named(ledger.policy.prices.plans, command.plan).metered
    return OrgPlanChanged(org_id=command.org_id, plan=command.plan, metered=metered)
