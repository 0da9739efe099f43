"""What the events of a log say of credits, told once more: what orgs have at every position, and jobs have cost."""

from collections import Counter
from dataclasses import dataclass, field

from schemas import events as e
from schemas.credit_events import CreditsGranted, CreditsHeld, CreditsReleased
from services.ledger.credits import PLATFORM_FAULTS


@dataclass(slots=True)
class Balances:
    """By org and by job."""

    orgs: Counter[str] = field(default_factory=Counter)
    costs: Counter[str] = field(default_factory=Counter)
    refunded: set[str] = field(default_factory=set)
    claimed: set[str] = field(default_factory=set)

    def tell(self, event: e.AnyEvent) -> str:
        """Go on by one event; return what is wrong about it, or nothing."""
        match event:
            case e.OrgRegistered() | CreditsGranted() | CreditsReleased():
                self.orgs[event.org_id] += event.credits
            case CreditsHeld():
                self.orgs[event.org_id] -= event.credits
            case e.JobSubmitted():
                self._pay(event, event.credits)
            case e.NodeFinished():
                self._pay(event, event.surcharge)
            case e.ItemsRecorded():  # what they cost is never given back
                self.orgs[event.org_id] -= event.surcharge
            case e.JobClaimed():
                self.claimed.add(event.job_id)
            case e.JobFailed():
                return self._give_back(event, due=event.error_type in PLATFORM_FAULTS)
            case e.JobCancelled():
                return self._give_back(event, due=event.job_id not in self.claimed)
        left = self.orgs[event.org_id]
        return f"{event.org_id} has {left} credits" if left < 0 else ""

    def _pay(self, event: e.JobSubmitted | e.NodeFinished, price: int) -> None:
        self.orgs[event.org_id] -= price
        self.costs[event.job_id] += price

    def _give_back(self, event: e.JobFailed | e.JobCancelled, *, due: bool) -> str:
        self.orgs[event.org_id] += event.refund
        wanted = self.costs[event.job_id] if due else 0
        if event.refund != wanted:
            return f"gives back {event.refund}, it had cost {self.costs[event.job_id]} and {wanted} are due"
        if event.refund and event.job_id in self.refunded:
            return "gives back twice"
        self.refunded.add(event.job_id)
        return ""
