"""Plans and prices: what an org of each plan may have, and what is paid for. The operator may set others."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated

import msgspec
from msgspec import Meta

from schemas.values import Destination
from services.ledger.warehouses import WAREHOUSES

# Kinds of destinations that only some plans have, and the feature of a plan that gives it.
KINDS_BY_PLAN = {"clickhouse": "clickhouse", **dict.fromkeys(WAREHOUSES, "warehouses")}


class Plan(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What an org on it has."""

    metered: bool = False  # its jobs cost credits; without, they do from the first grant on
    clickhouse: bool = False  # it may have destinations of kind clickhouse
    warehouses: bool = True  # it may have destinations in warehouses of its own
    max_in_flight: Annotated[int, Meta(ge=1, le=100_000)] = 5  # of an org that is registered without a cap of its own

    def has(self, kind: str) -> bool:
        """Whether it has destinations of this kind."""
        feature = KINDS_BY_PLAN.get(kind)
        return feature is None or bool(getattr(self, feature))


Plans = Mapping[str, Plan]
STANDARD = "standard"
PLANS: Plans = MappingProxyType(
    {STANDARD: Plan(), "prepaid": Plan(metered=True), "bi": Plan(clickhouse=True)},
)


@dataclass(frozen=True, slots=True)
class Prices:
    """What is decided by, and never folded by: they may change from one start to the next."""

    plans: Plans = field(default_factory=lambda: PLANS)
    job: int = 1  # credits that a workflow job of a metered org costs, at least 1
    render: int = 0  # credits that a node costs beside which has its provider render
    fallback: int = 0  # credits that a node costs beside which is called because another one failed
    routed: int = 0  # credits that each request of a spider costs which goes through the unblocker


def plans_of(text: str) -> Plans:
    """Read plans from JSON, by name; those named take the place of, or join, what is there. ValueError: they do not."""
    if not text:
        return PLANS
    try:
        given = msgspec.json.decode(text, type=dict[Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")], Plan])
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from None
    return MappingProxyType({**PLANS, **given})


def plan_named(plans: Plans, name: str) -> Plan:
    """Return a plan; of one that no setting knows (any more), what `standard` has."""
    return plans.get(name) or plans[STANDARD]


def on_plan(plan: Plan, destinations: tuple[Destination, ...]) -> tuple[Destination, ...]:
    """Return the destinations that a plan has; all of them most of the time, and then the same tuple."""
    if all(plan.has(each.kind) for each in destinations):
        return destinations
    return tuple(each for each in destinations if plan.has(each.kind))
