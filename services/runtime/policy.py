"""The limits of the rules, as the settings have them: the same for the decider and for whoever folds as it does."""

from services.ledger.plans import Prices, plans_of
from services.ledger.policy import SECOND, Policy
from services.ledger.retries import schedule_of
from services.runtime.settings import Settings


def policy_of(settings: Settings) -> Policy:
    """Return the limits of the rules as the settings have them."""
    return Policy(
        heartbeat=int(settings.heartbeat_seconds * SECOND),
        lease=int(settings.lease_seconds * SECOND),
        dispatch_resend=int(settings.dispatch_resend_seconds * SECOND),
        delivery_resend=int(settings.delivery_resend_seconds * SECOND),
        delivery_schedule=schedule_of(settings.delivery_retry_schedule),
        webhook_schedule=schedule_of(settings.webhook_retry_schedule),
        endpoint_span=int(settings.webhook_disable_seconds * SECOND),
        ended_kept=settings.ended_kept,
        ended_kept_for=int(settings.ended_kept_seconds * SECOND),
        max_pending=settings.max_pending,
        max_queue_seconds=settings.max_queue_seconds,
        idempotency_lifetime=int(settings.idempotency_seconds * SECOND),
        retention=settings.retention_seconds * SECOND,
        module_retention=settings.module_retention_seconds * SECOND,
        follow_up_jobs=settings.follow_up_jobs,
        gate_deadline=int(settings.gate_deadline_seconds * SECOND),
        prices=Prices(
            plans_of(settings.plans),
            settings.job_credits,
            settings.render_surcharge,
            settings.fallback_surcharge,
            settings.routed_surcharge,
        ),
    )
