"""What Python counts in the events for each query: a function of its name, whose rows are those of the query."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

from projections.clickhouse.asking import Asked
from schemas.events import DeliveryFailed, JobFailed, WorkerAlive
from services.ledger.account import movement
from services.ledger.status import TERMINAL
from tests.event_streams import Stream
from tests.integration.clickhouse.projecting import STAGES
from tests.integration.clickhouse.views.figures import Row, quantile, seconds, spans, stays
from tests.integration.clickhouse.views.history import Jobs, hour, moment, of_type, submitted
from tests.integration.clickhouse.views.test_deliveries import deliveries, gates
from tests.integration.clickhouse.views.test_providers import calls
from tests.integration.clickhouse.views.test_states import waits_for_another_try

Counted = Callable[["Part"], Iterable[Row]]
COUNTED: dict[str, Counted] = {}


class Part:
    """What is asked about, and the events that are there."""

    def __init__(self, streams: list[Stream], jobs: Jobs, org: str, *, to_the_end: bool = False) -> None:
        times = [each.header.occurred_at for stream in streams for each in stream.events]
        self.since, self.until = (min(times) * 3 + max(times)) // 4, (min(times) + max(times) * 3) // 4
        if to_the_end:
            self.until = max(times) + 1
        self.org, self.streams = org, streams
        self.jobs = {key: told for key, told in jobs.items() if org in ("", key[0])}
        self.all_jobs = jobs
        self.asked = Asked(_aware(self.since), _aware(self.until), org)

    def has(self, micros: int | None) -> bool:
        """Whether an instant is asked about."""
        return micros is not None and self.since <= micros < self.until

    def has_time(self, time: datetime | None) -> bool:
        return time is not None and moment(self.since) <= time < moment(self.until)

    def bucket(self, time: datetime) -> datetime:
        """Return the point of a line to which an instant belongs."""
        second = int(time.replace(tzinfo=UTC).timestamp())
        return datetime.fromtimestamp(second - second % self.asked.bucket, UTC).replace(tzinfo=None)


def _aware(micros: int) -> datetime:
    return moment(micros).replace(tzinfo=UTC)


def counted(function: Counted) -> Counted:
    """Take a function for what the query of its name answers."""
    COUNTED[function.__name__] = function
    return function


def grouped(rows: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = defaultdict(list)
    for key, value in rows:
        groups[key].append(value)
    return groups


def quantiles(values: list[float], *levels: float) -> tuple[float | None, ...]:
    return tuple(float(quantile(values, level)) if values else None for level in levels)


@counted
def funnel(part: Part) -> Iterable[Row]:
    first = hour(part.since)
    events = [each for stream in part.streams for each in stream.events if part.org in ("", each.event.org_id)]
    found = grouped((hour(each.header.occurred_at), each.header.event_type) for each in events if each.event.job_id)
    for at, types in found.items():
        if first <= at < moment(part.until) and set(types) & set(STAGES.values()):
            yield at, *(types.count(name) for name in STAGES.values())


@counted
def jobs_by_state(part: Part) -> Iterable[Row]:
    now = grouped((stays(told)[-1][1], stays(told)[-1][2]) for told in part.jobs.values())
    return ((state, len(entered), moment(min(entered))) for state, entered in now.items())


@counted
def state_times(part: Part) -> Iterable[Row]:
    found = grouped((span[3], seconds(span[4], span[6])) for span in spans(part.jobs) if part.has(span[6]))  # type: ignore[arg-type]
    return ((state, len(took), *quantiles(took, 0.5, 0.95), max(took), sum(took)) for state, took in found.items())


def ends(part: Part) -> Iterable[tuple[list[Any], int]]:
    """Yield the events and the end of each job that ended in this time."""
    for told in part.jobs.values():
        _, state, at = stays(told)[-1]
        if state in TERMINAL and part.has(at):
            yield told, at


@counted
def job_times(part: Part) -> Iterable[Row]:
    found = grouped((part.bucket(moment(at)), seconds(told[0].header.occurred_at, at)) for told, at in ends(part))
    return ((at, *quantiles(took, 0.5, 0.95), len(took)) for at, took in found.items())


@counted
def failures(part: Part) -> Iterable[Row]:
    found = grouped(
        ((failed.event.error_type, failed.event.rule, submitted(told).workflow_id), moment(at))
        for told, at in ends(part)
        for failed in of_type(told, JobFailed)
        if isinstance(failed.event, JobFailed)
    )
    return ((*key, len(at), max(at)) for key, at in found.items())


def calls_by(part: Part, key: Callable[[Any, Any, Any], Any]) -> dict[Any, list[Any]]:
    return grouped(
        (key(told, recorded, event), (event, taken))
        for _, told, recorded, event, taken in calls(part.jobs)
        if part.has(recorded.header.occurred_at)
    )


@counted
def provider_quality(part: Part) -> Iterable[Row]:
    found = calls_by(part, lambda told, _, event: (event.provider, submitted(told).workflow_id, submitted(told).domain))
    for key, made in found.items():
        outcomes = [str(event.outcome) for event, _ in made]
        shares = (outcomes.count(each) / len(made) for each in ("succeeded", "refused"))
        latencies = quantiles([event.latency_ms for event, _ in made], 0.5, 0.95)
        yield *key, len(made), *shares, *latencies, sum(taken for _, taken in made)


@counted
def provider_success(part: Part) -> Iterable[Row]:
    found = calls_by(
        part, lambda _, recorded, event: (part.bucket(moment(recorded.header.occurred_at)), event.provider)
    )
    for key, made in found.items():
        yield *key, sum(str(event.outcome) == "succeeded" for event, _ in made) / len(made), len(made)


@counted
def provider_latency(part: Part) -> Iterable[Row]:
    found = calls_by(
        part, lambda _, recorded, event: (part.bucket(moment(recorded.header.occurred_at)), event.provider)
    )
    return ((*key, *quantiles([event.latency_ms for event, _ in made], 0.95, 0.5)) for key, made in found.items())


@counted
def delivery_quality(part: Part) -> Iterable[Row]:
    found = grouped(((row[0], row[2], row[4]), row) for row in deliveries(part.jobs) if part.has_time(row[6]))
    for key, rows in found.items():
        took = quantiles([row[13] for row in rows if row[10]], 0.5, 0.95)
        sums = (sum(1 for row in rows if row[10]), sum(row[8] for row in rows))
        yield *key, len(rows), *sums, sum(1 for row in rows if row[12]), sum(1 for row in rows if row[11]), *took


@counted
def delivery_latency(part: Part) -> Iterable[Row]:
    rows = [row for row in deliveries(part.jobs) if part.has_time(row[10])]
    found = grouped(((part.bucket(row[10]), row[4]), row[13]) for row in rows)
    return ((*key, *quantiles(took, 0.95, 0.5)) for key, took in found.items())


@counted
def delivery_failures(part: Part) -> Iterable[Row]:
    found = grouped(
        ((key[0], each.event.destination_id, each.event.error_type), (key[1], each.header.occurred_at))
        for key, told in part.jobs.items()
        for each in of_type(told, DeliveryFailed)
        if isinstance(each.event, DeliveryFailed) and part.has(each.header.occurred_at)
    )
    for key, tries in found.items():
        yield *key, len(tries), len({job for job, _ in tries}), moment(max(at for _, at in tries))


@counted
def queue_wait(part: Part) -> Iterable[Row]:
    claims = [span for span in spans(part.jobs) if span[3] == "pending" and span[5] == "running" and part.has(span[6])]
    found = grouped((part.bucket(moment(span[6])), seconds(span[4], span[6])) for span in claims)  # type: ignore[arg-type]
    return ((at, *quantiles(took, 0.5, 0.95), len(took)) for at, took in found.items())


@counted
def fairness(part: Part) -> Iterable[Row]:
    queued = [span for span in spans(part.all_jobs) if span[3] == "pending"]
    claims = [(span[0], seconds(span[4], span[6])) for span in queued if span[5] == "running" and part.has(span[6])]  # type: ignore[arg-type]
    of_all = [took for _, took in claims]
    for org, took in grouped(claims).items():
        waiting = sum(
            span[4] < part.until and (span[6] or part.until) >= part.until for span in queued if span[0] == org
        )
        ratio = fmean(took) / fmean(of_all)
        if part.org in ("", org):
            yield org, len(took), len(took) / len(of_all), fmean(took), *quantiles(took, 0.95), ratio, waiting


@counted
def retries(part: Part) -> Iterable[Row]:
    rows = [row for row in waits_for_another_try(part.jobs) if part.has_time(row[4])]
    found = grouped(((submitted(part.jobs[row[:2]]).workflow_id, "node-1", row[3]), row) for row in rows)
    for key, waits in found.items():
        jobs = {row[:2] for row in waits}
        done = {row[:2] for row in waits if row[8] == "completed"}
        mean = fmean((row[6] - row[4]).total_seconds() for row in waits)
        late = [(row[7] - row[6]).total_seconds() for row in waits if row[7]]
        yield *key, len(waits), len(jobs), len(done) / len(jobs), mean, fmean(late)


@counted
def gate_ages(part: Part) -> Iterable[Row]:
    now = moment(part.until)
    found = grouped(
        ((row[0], name), (now - row[2]).total_seconds())
        for row in gates(part.jobs)
        for name in row[5]
        if row[7] is None and row[2] < now
    )
    return ((*key, len(ages), max(ages), *quantiles(ages, 0.5)) for key, ages in found.items())


@counted
def gate_waits(part: Part) -> Iterable[Row]:
    found = grouped((part.bucket(row[6]), row[8]) for row in gates(part.jobs) if part.has_time(row[6]))
    return ((at, *quantiles(took, 0.5, 0.95), len(took)) for at, took in found.items())


def moves(part: Part) -> Iterable[tuple[str, int, str, int]]:
    """Yield every move of a balance, also of jobs that were deleted."""
    for recorded in (each for stream in part.streams for each in stream.events):
        moved = movement(recorded.event)
        if moved and part.org in ("", recorded.event.org_id):
            yield recorded.event.org_id, recorded.header.occurred_at, str(moved.kind), moved.credits


@counted
def credits(part: Part) -> Iterable[Row]:  # noqa: A001  # the query's name
    found = grouped((hour(at), (kind, moved)) for _, at, kind, moved in moves(part))
    for at, made in found.items():
        sums: dict[str, int] = defaultdict(int)
        for kind, moved in made:
            sums[kind] += moved
        if hour(part.since) <= at < moment(part.until):
            held = -sums["hold"] - sums["release"]
            yield at, sums["grant"], -sums["debit"], -sums["surcharge"], sums["refund"], held, sum(sums.values())


@counted
def balances(part: Part) -> Iterable[Row]:
    days = (part.until - part.since) / 86_400e6
    for org, made in grouped((org, rest) for org, *rest in moves(part)).items():
        balance = sum(moved for _, _, moved in made)
        held = -sum(moved for _, kind, moved in made if kind in ("hold", "release"))
        spent = -sum(moved for at, kind, moved in made if part.has(at) and kind in ("debit", "surcharge", "refund"))
        yield org, balance, held, spent, balance / spent * days if spent > 0 else None


@counted
def job_costs(part: Part) -> Iterable[Row]:
    begun = [told for told in part.jobs.values() if part.has(told[0].header.occurred_at)]
    for key, jobs in grouped(((submitted(told).workflow_id, submitted(told).domain), told) for told in begun).items():
        cost = -sum(moved.credits for told in jobs for each in told if (moved := movement(each.event)))
        done = sum(stays(told)[-1][1] == "completed" for told in jobs)
        yield *key, len(jobs), done, cost, cost / done if done else None


@counted
def workers(part: Part) -> Iterable[Row]:
    found: dict[datetime, WorkerAlive] = {}
    signs = [
        (each.header.occurred_at, each.event)
        for stream in part.streams
        for each in stream.events
        if isinstance(each.event, WorkerAlive) and part.has(each.header.occurred_at)
    ]
    for at, alive in sorted(signs, key=lambda sign: sign[0]):
        found[part.bucket(moment(at))] = alive  # there is one worker
    return ((at, alive.slots, alive.slots - alive.free_slots, 1) for at, alive in found.items())


@counted
def orgs(part: Part) -> Iterable[Row]:
    return ((org,) for org in sorted({key[0] for key in part.all_jobs}))
