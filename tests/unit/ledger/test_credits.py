"""Credits: debited by the submission, surcharged by nodes, given back by the end of a job, never below zero."""

from msgspec.structs import replace

from schemas.credit_events import CreditsGranted, CreditsHeld, CreditsReleased
from schemas.events import AnyEvent, JobCancelled, JobFailed, JobSubmitted, NodeFinished
from services.ledger.account import movement
from services.ledger.commands import ChangePlan, GrantCredits, SetCredits
from services.ledger.credits import MAX_CREDITS
from services.ledger.plans import PLANS, Plan, Prices
from services.ledger.policy import HOUR, SECOND, Policy
from services.ledger.replies import Balance, Done, Drop, Granted, Refused
from services.ledger.reports import Failed, HandedBack, NodeReport
from services.ledger.status import Status
from tests.unit.ledger.world import EXTRACTED, World, ack, names, node

SURCHARGES = Policy(prices=Prices(render=2, fallback=3))


def metered(balance: int, policy: Policy | None = None) -> World:
    """An org with so many credits."""
    return World(policy or Policy()).org(credits=balance)


def balance(world: World, org_id: str = "acme") -> int:
    """What is left."""
    return world.ledger.orgs[org_id].account.balance


def grant(world: World, amount: int, key: bytes = b"g" * 16, body: bytes = b"b" * 16) -> list[AnyEvent]:
    """The operator gives credits."""
    return world.when(
        GrantCredits(command_id="g", org_id="acme", credits=amount, idempotency_digest=key, request_digest=body)
    )


def rendered(step: int, **fields: object) -> NodeReport:
    """A node after which one comes that renders."""
    return node(step, next_renders=True, **fields)


def refused(world: World) -> Refused:
    """The refusal of the newest command."""
    assert isinstance(world.reply, Refused)
    return world.reply


def test_the_submission_itself_debits_a_credit_for_each_job() -> None:
    world = metered(3)
    events = world.submit("a", "b")
    assert [event.credits for event in events if isinstance(event, JobSubmitted)] == [1, 1]
    assert balance(world) == 1


def test_all_jobs_of_a_submission_are_paid_or_none() -> None:
    world = metered(2)
    assert world.submit("a", "b", "c") == []
    assert (refused(world).code, refused(world).asked, refused(world).remaining) == ("quota_exhausted", 3, 2)
    assert balance(world) == 2
    world.submit("a", "b")
    assert balance(world) == 0


def test_a_repeat_debits_nothing_even_with_nothing_left() -> None:
    world = metered(1)
    world.submit("a", idempotency_digest=b"k" * 16)
    assert world.submit("again", idempotency_digest=b"k" * 16) == []
    assert world.reply == Done(job_ids=("a",), repeated=True)
    assert world.submit("b", idempotency_digest=b"l" * 16) == []
    assert refused(world).code == "quota_exhausted"


def test_an_org_without_credits_of_its_own_on_an_unmetered_plan_pays_nothing() -> None:
    world = World(SURCHARGES).org(plan="standard")
    events = world.submit("a")
    assert [event.credits for event in events if isinstance(event, JobSubmitted)] == [0]
    world.claim("a")
    assert isinstance(world.reply, Granted)
    assert not world.reply.asks_first
    world.report(Failed(error_type="internal"), rendered(0), job_id="a")
    assert [movement(each.event) for each in world.seen if movement(each.event)] == []


def test_a_metered_plan_needs_credits_and_an_unknown_plan_is_as_the_standard_one() -> None:
    world = World().org(plan="prepaid").org("beta", plan="no such plan")
    assert world.submit("a") == []
    assert refused(world).code == "quota_exhausted"
    assert names(world.submit("b", org_id="beta"))[0] == "JobSubmitted"


def test_from_the_first_grant_on_an_org_is_metered_until_its_plan_is_set_anew() -> None:
    world = World().org(plan="standard")
    grant(world, 1)
    assert world.reply == Balance(plan="standard", metered=True, credits=1)
    world.submit("a")
    assert world.submit("b") == []
    assert names(world.when(ChangePlan(command_id="p", org_id="acme", plan="standard"))) == ["OrgPlanChanged"]
    assert world.when(ChangePlan(command_id="p", org_id="acme", plan="standard")) == []
    assert world.reply == Balance(plan="standard", metered=False, credits=0)
    assert names(world.submit("b"))[0] == "JobSubmitted"


def test_a_grant_counts_once_for_its_key_and_another_body_is_a_conflict() -> None:
    world = metered(0)
    assert names(grant(world, 5)) == ["CreditsGranted"]
    assert grant(world, 5) == []
    assert world.reply == Balance(plan="bi", metered=True, credits=5)
    assert grant(world, 6, body=b"other".ljust(16)) == []
    assert refused(world).code == "idempotency_conflict"
    assert balance(world) == 5


def test_setting_a_balance_is_a_grant_of_the_difference() -> None:
    world = metered(5)
    world.submit("a")
    set_to = SetCredits(command_id="t", org_id="acme", credits=1, idempotency_digest=b"s" * 16)
    assert [event.credits for event in world.when(set_to) if isinstance(event, CreditsGranted)] == [-3]
    world.submit("b")
    assert world.when(set_to) == []  # a late repeat takes back no debit
    assert balance(world) == 0


def test_amounts_out_of_range_are_refused() -> None:
    world = metered(7)
    for amount in (0, -1, MAX_CREDITS - 6):
        assert grant(world, amount) == []
        assert (refused(world).code, refused(world).message) == ("bad_credits", f"from 1 to {MAX_CREDITS - 7}")
    for amount in (-1, MAX_CREDITS + 1):
        world.when(SetCredits(command_id="t", org_id="acme", credits=amount, idempotency_digest=b"s" * 16))
        assert refused(world).code == "bad_credits"
        World().org(credits=amount)
        assert "other" not in world.org("other", credits=amount).ledger.orgs
    assert names(grant(world, MAX_CREDITS - 7)) == ["CreditsGranted"]
    assert world.reply == Balance(plan="bi", metered=True, credits=MAX_CREDITS)


def test_what_is_given_back_may_lift_a_balance_above_what_can_be_granted() -> None:
    world = metered(1)
    world.submit("j1")
    grant(world, MAX_CREDITS)
    world.cancel("j1")
    assert balance(world) == MAX_CREDITS + 1, "it was paid for, and the balance is the sum of what moved it"
    assert grant(world, 1, key=b"h" * 16) == []
    assert refused(world).message == f"nothing: the org has {MAX_CREDITS} credits already"
    world.when(SetCredits(command_id="t", org_id="acme", credits=MAX_CREDITS, idempotency_digest=b"s" * 16))
    assert balance(world) == MAX_CREDITS


def test_no_org_spends_for_another() -> None:
    world = metered(1).org("beta", credits=1)
    world.submit("a")
    assert world.submit("b") == []
    world.cancel("a", org_id="beta")
    assert (balance(world), balance(world, "beta")) == (0, 1)


# ---- refunds ----


def test_a_cancel_before_the_first_claim_gives_the_credit_back_once() -> None:
    world = metered(1)
    world.submit("j1")
    assert [event.refund for event in world.cancel() if isinstance(event, JobCancelled)] == [1]
    assert world.cancel() == []
    world.delete()
    assert balance(world) == 1


def test_a_deletion_before_the_first_claim_gives_it_back_too() -> None:
    world = metered(1)
    world.submit("j1")
    world.delete()
    assert balance(world) == 1


def test_a_cancel_after_a_claim_gives_nothing_back_though_the_job_waits_again() -> None:
    world = metered(1)
    world.submit("j1")
    world.claim()
    world.report(HandedBack())
    assert world.status() is Status.PENDING
    world.cancel()
    assert balance(world) == 0


def test_faults_of_the_platform_give_back_and_failures_of_providers_do_not() -> None:
    for error_type, left in (("internal", 1), ("providers_exhausted", 0), ("validation_failed", 0)):
        world = metered(1)
        world.submit("j1")
        world.claim()
        for _ in range(2):
            world.report(Failed(error_type=error_type))
        assert balance(world) == left, error_type


def test_a_job_that_lost_its_workers_gets_all_back_that_it_had_cost() -> None:
    world = metered(10, replace_policy(max_losses=1))
    world.submit("j1")
    world.claim()
    world.report(None, rendered(0))
    assert balance(world) == 7
    lost = world.lose("boot-1")
    assert [(event.error_type, event.refund) for event in lost if isinstance(event, JobFailed)] == [("worker_lost", 3)]
    assert balance(world) == 10


def test_a_completed_job_keeps_what_it_cost() -> None:
    world = metered(1)
    world.submit("j1")
    world.claim()
    world.report(EXTRACTED, node(0))
    world.settle(ack())
    assert (world.status(), balance(world)) == (Status.COMPLETED, 0)


# ---- surcharges ----


def replace_policy(**fields: object) -> Policy:
    """The policy with surcharges, and more."""
    return Policy(prices=SURCHARGES.prices, **fields)  # type: ignore[arg-type]


def test_the_node_before_a_dearer_call_debits_its_surcharge() -> None:
    world = metered(10, SURCHARGES)
    world.submit("j1")
    world.claim()
    assert isinstance(world.reply, Granted)
    assert world.reply.asks_first
    events = world.report(None, node(0), rendered(1), node(2, next_is_fallback=True, next_renders=True))
    assert [event.surcharge for event in events if isinstance(event, NodeFinished)] == [0, 2, 5]
    assert (balance(world), world.job().run.surcharged) == (2, 7)
    assert world.report(None, node(0), rendered(1), node(2, next_is_fallback=True, next_renders=True)) == []
    assert world.sent.replies[-1].body == Done()
    assert balance(world) == 2


def test_a_call_that_cannot_be_paid_is_not_begun_and_its_worker_hears_drop() -> None:
    world = metered(2, SURCHARGES)
    world.submit("j1")
    world.claim()
    events = world.report(None, rendered(0))
    assert names(events) == ["NodeFinished", "JobFailed"]
    assert isinstance(events[1], JobFailed)
    assert (events[1].error_type, events[1].node_id, events[1].refund) == ("quota_exhausted", "n1", 0)
    assert refused(world).code == "quota_exhausted"
    assert [reply.body for reply in world.sent.replies if not reply.command_id] == [Drop(job_ids=("j1",))]
    assert balance(world) == 1
    assert world.report(None, rendered(0)) == []  # the same question, asked again
    assert refused(world).code == "quota_exhausted"


def test_a_question_that_is_asked_again_after_a_cancel_is_refused() -> None:
    world = metered(10, SURCHARGES)
    world.submit("j1")
    world.claim()
    world.report(None, rendered(0))  # and the answer was lost
    world.cancel()
    assert world.report(None, rendered(0)) == []
    assert refused(world).code == "job_terminal"


def test_what_was_done_unpaid_ends_the_job_where_the_credits_ran_out() -> None:
    world = metered(3, SURCHARGES)
    world.submit("j1")
    world.claim()
    assert names(world.report(EXTRACTED, rendered(0), rendered(1), node(2))) == [
        "NodeFinished",
        "NodeFinished",
        "JobFailed",
    ]
    assert balance(world) == 0


def test_jobs_that_cost_nothing_pay_no_surcharges_when_their_org_becomes_metered() -> None:
    world = World(SURCHARGES).org()
    world.submit("j1")
    grant(world, 5)
    world.claim()
    world.report(None, rendered(0))
    assert balance(world) == 5


# ---- submissions of many commands ----


FIRST = bytes([7, 0]) * 8


def part(world: World, *job_ids: str, number: int, later: int = 0) -> list[AnyEvent]:
    """One command of a submission."""
    return world.submit(
        *job_ids, idempotency_digest=bytes([7, number]) * 8, first_digest=FIRST if number else b"", jobs_behind=later
    )


def test_the_first_command_of_a_submission_holds_the_credits_of_the_later_ones() -> None:
    world = metered(6)
    assert names(part(world, "a", "b", number=0, later=3))[:1] == ["CreditsHeld"]
    assert balance(world) == 1
    world.submit("x")
    assert world.submit("y") == []
    part(world, "c", "d", number=1)
    part(world, "e", number=2)
    assert part(world, "f", number=2) == []
    assert (balance(world), world.ledger.orgs["acme"].account.holds) == (0, {})


def test_a_submission_that_cannot_be_paid_as_a_whole_is_refused_at_its_first_command() -> None:
    world = metered(4)
    assert part(world, "a", "b", number=0, later=3) == []
    assert (refused(world).asked, refused(world).remaining) == (5, 4)


def test_credits_held_for_commands_that_never_came_go_back_after_an_hour() -> None:
    world = metered(6)
    held = part(world, "a", number=0, later=5)[0]
    assert isinstance(held, CreditsHeld)
    assert held.expires_at == world.now + HOUR
    part(world, "b", number=1)
    world.after(HOUR / SECOND - 1)
    assert balance(world) == 0
    released = [event for event in world.after(1) if isinstance(event, CreditsReleased)]
    assert [event.credits for event in released] == [4]
    assert balance(world) == 4
    assert not [event for event in world.after(HOUR) if movement(event)]


# ---- plans ----


def test_a_destination_that_the_plan_lacks_is_left_out_and_running_jobs_keep_theirs() -> None:
    lake = replace(World().extracted().job().destinations[0], destination_id="lake", kind="clickhouse")
    world = World().org(plan="bi")
    world.submit("before", destinations=(lake,))
    world.when(ChangePlan(command_id="p", org_id="acme", plan="standard"))
    world.submit("after", destinations=(lake,))
    world.claim("before")
    world.report(EXTRACTED, job_id="before")
    assert [delivery.destination_id for delivery in world.sent.deliveries] == ["lake"]
    assert (world.job("before").destinations, world.job("after").destinations) == ((lake,), ())


def test_plans_of_a_setting_count() -> None:
    world = World(Policy(prices=Prices({**PLANS, "standard": Plan(metered=True, clickhouse=True)}, job=4)))
    world.org(plan="standard", credits=9).submit("a", "b")
    assert (balance(world), world.submit("c")) == (1, [])
