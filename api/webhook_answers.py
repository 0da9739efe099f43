"""What callers get of webhook endpoints: one struct per answer, as in `api.answers`."""

from api.answers import Answer
from api.times import Timestamp


class Webhook(Answer, frozen=True, kw_only=True):
    """A webhook endpoint without its secret.

    `state` is ok, throttled (it is not called until `throttledUntil`) or disabled.

    `disabledReason` is set where not its owner disabled it.

    `disabledAt` says since when it is disabled; null where it is enabled, or always was disabled.
    """

    webhook_id: str
    url: str
    event_types: list[str]
    gating: bool
    on_exhausted: str
    gate_seconds: int
    enabled: bool
    state: str
    throttled_until: Timestamp | None
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


class WebhookAttempt(Answer, frozen=True, kw_only=True):
    """One call to an endpoint.

    `messageId` is the `webhook-id` that it carried, the same at every try and replay. `status` is null where no answer
    came, `errorType` where the endpoint took the message. `answer` is the beginning of what it answered, 1 KiB at most.
    """

    job_id: str
    event_type: str
    message_id: str
    generation: int
    try_number: int
    attempted_at: Timestamp
    latency_ms: int
    status: int | None
    error_type: str | None
    answer: str


class WebhookAttempts(Answer, frozen=True, kw_only=True):
    """Calls to an endpoint, the newest first."""

    attempts: list[WebhookAttempt]
    next_cursor: str | None


class Replay(Answer, frozen=True, kw_only=True):
    """How many messages are sent once more, and how many not, by error code.

    `nextCursor` asks for the next ones, with the same body otherwise; null: there are no more.
    """

    replayed: int
    skipped: dict[str, int]
    next_cursor: str | None
