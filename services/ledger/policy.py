"""The numbers that rules depend on, fixed for one run of a decider. All times are microseconds."""

from dataclasses import dataclass, field

from services.ledger.plans import Prices

MILLISECOND = 1_000
SECOND = 1_000 * MILLISECOND
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


@dataclass(frozen=True, slots=True)
class Policy:
    """Tunable limits of the rules."""

    heartbeat: int = 10 * SECOND
    lease: int = 30 * SECOND
    dispatch_resend: int = 30 * SECOND  # a task that nobody claimed goes out again after this
    delivery_resend: int = 30 * SECOND  # a delivery that nobody answered goes out again after this, then twice as late
    delivery_resend_cap: int = 10 * MINUTE
    resend_window: int = 500  # deliveries that are sent again and not answered, of each place and partition
    delivery_schedule: tuple[int, ...] = (  # waited after each failure but the last, of stores
        SECOND,
        5 * SECOND,
        30 * SECOND,
        5 * MINUTE,
        30 * MINUTE,
        2 * HOUR,
        5 * HOUR,
        10 * HOUR,
    )
    webhook_schedule: tuple[int, ...] = (5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR)
    spread_percent: int = 10  # of each wait of a delivery, that is added to it at most, so that no crowd comes back
    gate_deadline: int = 72 * HOUR  # that a job waits for an ACK, longer than each schedule and than a weekend
    endpoint_span: int = 5 * 24 * HOUR  # of nothing but failures, after which an endpoint is disabled
    max_losses: int = 3  # claims that may end by a lost worker before the job fails
    idempotency_lifetime: int = 24 * HOUR
    fire_lifetime: int = 90 * 24 * HOUR  # behind which no due time of a schedule is made up for
    ended_kept: int = 20_000  # ended jobs that stay in memory, so that most late commands need no look elsewhere
    ended_kept_for: int = 2 * MINUTE  # and for so long each of them does: a command may come twice within that time
    min_window: int = 8  # unclaimed tasks of a kind while no worker of it is known
    ahead: int = 500 * MILLISECOND  # tasks go out so long before a slot is expected to be free for them
    max_pending: int = 2_000_000  # jobs that an org may have pending, unless the operator set another limit for it
    max_queue_seconds: int = 0  # that a job may wait for its first claim, where nobody says otherwise; 0: for ever
    retention: int = 0  # that results are kept after the end of a job, where an org has no other time; 0: for ever
    module_retention: int = 7 * 24 * HOUR  # the same of the results of modules; 0: for ever
    follow_up_jobs: int = 5  # that an org may have pending or running, before no job follows another by itself
    hold_lifetime: int = HOUR  # that credits are set aside for the rest of a large submission
    prices: Prices = field(default_factory=Prices)

    def resend_after(self, try_number: int) -> int:
        """How long a writer has to answer the given try of a delivery."""
        return int(min(self.delivery_resend << min(try_number - 1, 10), self.delivery_resend_cap))
