"""Every limit of the rules that can be set is the one that was set."""

from dataclasses import fields, replace

import pytest

from services.ledger.plans import PLANS, Plan
from services.ledger.policy import SECOND, Policy
from services.runtime.policy import policy_of
from services.runtime.settings import Settings

AS_IT_COMES = Settings(kafka="", postgres="", registry="", blobs="")
SET: list[tuple[str, object, str, object]] = [  # setting and its value; what of the policy it is, and how much there
    ("heartbeat_seconds", 1.5, "heartbeat", 1_500_000),
    ("lease_seconds", 77.0, "lease", 77 * SECOND),
    ("dispatch_resend_seconds", 7.0, "dispatch_resend", 7 * SECOND),
    ("delivery_resend_seconds", 7.0, "delivery_resend", 7 * SECOND),
    ("delivery_retry_schedule", "0,7", "delivery_schedule", (7 * SECOND,)),
    ("webhook_retry_schedule", "0,7", "webhook_schedule", (7 * SECOND,)),
    ("webhook_disable_seconds", 7.0, "endpoint_span", 7 * SECOND),
    ("ended_kept", 7, "ended_kept", 7),
    ("ended_kept_seconds", 7.0, "ended_kept_for", 7 * SECOND),
    ("max_pending", 7, "max_pending", 7),
    ("max_queue_seconds", 7, "max_queue_seconds", 7),
    ("idempotency_seconds", 7.0, "idempotency_lifetime", 7 * SECOND),
    ("retention_seconds", 7, "retention", 7 * SECOND),
    ("gate_deadline_seconds", 7.0, "gate_deadline", 7 * SECOND),
]
PRICES = [
    ("job_credits", "job"),
    ("render_surcharge", "render"),
    ("fallback_surcharge", "fallback"),
    ("routed_surcharge", "routed"),
]


@pytest.mark.parametrize(("setting", "value", "limit", "amount"), SET, ids=[row[0] for row in SET])
def test_a_setting_is_the_limit_of_its_name_and_moves_no_other(
    setting: str, value: object, limit: str, amount: object
) -> None:
    before, policy = policy_of(AS_IT_COMES), policy_of(replace(AS_IT_COMES, **{setting: value}))  # type: ignore[arg-type]
    changed = {each.name for each in fields(Policy) if getattr(before, each.name) != getattr(policy, each.name)}
    assert changed == {limit}
    assert getattr(policy, limit) == amount


@pytest.mark.parametrize(("setting", "price"), PRICES)
def test_a_price_is_the_one_that_was_set(setting: str, price: str) -> None:
    before, prices = (
        policy_of(each).prices
        for each in (AS_IT_COMES, replace(AS_IT_COMES, **{setting: 7}))  # type: ignore[arg-type]
    )
    assert prices == replace(before, **{price: 7})  # type: ignore[arg-type]


def test_plans_that_are_set_join_those_there_are_or_take_their_place() -> None:
    plans = policy_of(
        replace(AS_IT_COMES, plans='{"bi": {"metered": true, "maxInFlight": 20}, "gold": {"clickhouse": true}}')
    ).prices.plans
    assert plans["bi"] == Plan(metered=True, max_in_flight=20)
    assert plans["gold"] == Plan(clickhouse=True)
    assert {name: plans[name] for name in PLANS if name != "bi"} == {n: p for n, p in PLANS.items() if n != "bi"}


def test_as_it_comes_keys_live_for_a_day_and_an_org_has_five_jobs_in_flight() -> None:
    assert policy_of(AS_IT_COMES).idempotency_lifetime == 24 * 3600 * SECOND
    assert {plan.max_in_flight for plan in policy_of(AS_IT_COMES).prices.plans.values()} == {5}
