"""Whatever a spider's worker reports, in whatever order and however often: one run, no item twice, one end."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.events import AnyEvent, JobClaimed, ReportRefused
from schemas.item_events import ItemEvent, ItemsRecorded, JobLogged, StatsRecorded
from services.ledger.items import Items
from services.ledger.plans import Prices
from services.ledger.policy import Policy
from services.ledger.reports import Extracted, Failed, HandedBack, ItemsReport, Logged, Outcome, RetryLater
from services.ledger.status import TRANSITIONS
from tests.unit.ledger.modules import tell
from tests.unit.ledger.spiders import scraped, stats, submit
from tests.unit.ledger.world import World

ENDS: tuple[Outcome | None, ...] = (
    *[None] * 7,
    Extracted(result_ref="", items=3),
    Failed(error_type="critical_log"),
    HandedBack(),
    RetryLater(node_id="", try_number=1, delay_ms=1),
)
BALANCE = 40


@dataclass(frozen=True)
class Told:
    """A report: by how much each of its parts is ahead of what is recorded, and how it ends the attempt."""

    chunk: int | None  # None: it holds no such part
    lines: int | None
    stats: int | None
    routed: int
    outcome: Outcome | None
    late: int  # how many claims ago it was made

    def parts(self, come: Items) -> tuple[ItemsReport, ...]:
        """What it tells."""
        said: list[ItemsReport] = []
        if self.chunk is not None:
            number = max(0, come.chunks + self.chunk)
            said.append(scraped(number, 2 * number, 2 * number + 2))
        if self.lines is not None:
            said.append(Logged(number=max(0, come.logged + self.lines), lines=1, private=b"\0{}"))
        if self.stats is not None:
            said.append(stats(max(0, come.stats + self.stats), 9, routed=self.routed))
        return tuple(said)


ahead = st.sampled_from((None, 0, 0, 0, 0, -1, 1))
ends, late = st.sampled_from(ENDS), st.sampled_from((0, 0, 0, 0, 1))
tolds = st.builds(Told, ahead, ahead, ahead, st.integers(0, 9), ends, late)
OTHERS = ("lose", "stop", "claim", "claim", "wait", "cancel")
steps = st.lists(st.one_of(tolds, st.sampled_from(OTHERS)), max_size=25)


@dataclass
class Run:
    """The job at work."""

    world: World = field(default_factory=lambda: World(Policy(spread_percent=0, prices=Prices(routed=1))))

    def __post_init__(self) -> None:
        self.world.org(credits=BALANCE)
        submit(self.world)
        self.world.claim()

    def take(self, step: "Told | str") -> list[AnyEvent]:
        """Do one thing."""
        match step:
            case Told():
                come, attempt = self.world.job().items or Items(chain_id="j1"), self.world.job().attempt - step.late
                events = tell(self.world, *step.parts(come), outcome=step.outcome, attempt=attempt)
                again = tell(self.world, *step.parts(come), outcome=step.outcome, attempt=attempt)
                assert [each for each in again if not isinstance(each, ReportRefused)] == []
                return events
            case "lose":
                return [*self.world.lose("boot-1"), *self.world.after(0)]
            case "stop":
                return [*self.world.announce(stopping=True), *self.world.after(0)]
            case "claim":
                return self.world.claim()
            case "cancel":
                return self.world.cancel()
            case _:
                return self.world.after(31)


@settings(max_examples=300, deadline=None)
@given(steps)
def test_a_spider_runs_once_and_records_everything_once_in_its_order(script: list[Told | str]) -> None:
    run = Run()
    for step in script:
        run.take(step)
    job_events = [each for each in run.world.seen if each.event.job_id == "j1"]
    told = [each.event for each in job_events if isinstance(each.event, ItemEvent)]
    assert len({each.attempt for each in told}) <= 1
    chunks = [each for each in told if isinstance(each, ItemsRecorded)]
    assert [(each.chunk, each.first_row) for each in chunks] == [(n, 2 * n) for n in range(len(chunks))]
    for kind in (JobLogged, StatsRecorded):
        seen = [each.number for each in told if isinstance(each, kind)]
        assert seen == sorted(set(seen))
    claims = [each.header.seq for each in job_events if isinstance(each.event, JobClaimed)]
    first_told = next((each.header.seq for each in job_events if isinstance(each.event, ItemEvent)), claims[-1] + 1)
    assert claims[-1] < first_told  # nobody claims what has begun
    moves = [TRANSITIONS[type(each.event)][1] for each in job_events if type(each.event) in TRANSITIONS]
    ended = [move for move in moves if move in ("completed", "failed", "cancelled")]
    assert len(ended) <= 1
    paid = sum(each.surcharge for each in told if isinstance(each, StatsRecorded))
    assert run.world.ledger.orgs["acme"].account.balance == BALANCE - paid >= 0
