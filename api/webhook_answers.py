"""What callers get of webhook endpoints: one struct per answer, as in `api.answers`."""

from api.answers import Answer
from api.times import Timestamp


class Webhook(Answer, frozen=True, kw_only=True):
    """A webhook endpoint without its secret; `disabledReason` is set where not its owner disabled it.

    `disabledAt` says since when it is disabled; null where it is enabled, or always was disabled.
    """

    webhook_id: str
    url: str
    event_types: list[str]
    gating: bool
    on_exhausted: str
    gate_seconds: int
    enabled: bool
    disabled_reason: str | None
    disabled_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class NewWebhook(Webhook, frozen=True, kw_only=True):
    """An endpoint that was just made; `secret` is shown this once."""

    secret: str


class Webhooks(Answer, frozen=True, kw_only=True):
    """All webhook endpoints of an org, oldest first."""

    webhooks: list[Webhook]


class NewSecret(Answer, frozen=True, kw_only=True):
    """A new secret, shown this once; until `formerEndsAt` messages are signed with the former one too."""

    webhook_id: str
    secret: str
    former_ends_at: Timestamp


class WebhookTest(Answer, frozen=True, kw_only=True):
    """What came of a test message; `status` is null where no answer came."""

    delivered: bool
    status: int | None
    latency_ms: int
    error_type: str | None
    error_message: str | None


class WebhookDelivery(Answer, frozen=True, kw_only=True):
    """One message to an endpoint: about which job, and how it went so far."""

    job_id: str
    event_type: str
    generation: int
    status: str
    tries: int
    requested_at: Timestamp
    delivered_at: Timestamp | None
    next_try_at: Timestamp | None
    error_type: str | None
    error_message: str | None


class WebhookDeliveries(Answer, frozen=True, kw_only=True):
    """Messages to an endpoint, the newest first."""

    deliveries: list[WebhookDelivery]
