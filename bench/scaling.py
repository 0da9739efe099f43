"""docs/scaling.md: a hundred million jobs a day, from measured costs: `python -m bench.scaling [--write]`.

Without `--write` it says whether the page is current, and exits 1 where it is not. Every figure comes from a file of
bench/results; the arithmetic is here.
"""

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "scaling.md"
JOBS_A_DAY = 100_000_000
SECONDS_A_DAY = 86_400
PEAK = 2.0  # the busiest hour over the mean of the day
HEADROOM = 0.6  # of a core or a partition, that a peak may take
REPLICATION = 3
POSTGRES_BYTES_PER_JOB = 7.9e9 / 5e6  # docs/plans.md: a database of 5,000,000 jobs
GB = 1e9


def page() -> str:
    """Return the page."""
    return "\n".join([*_text(), ""])


def _text() -> Iterator[str]:
    alone, models, stack = _read("decider"), _read("read_models"), _read("latest")
    queue, restore = _read("queue"), _read("restore")
    mean = JOBS_A_DAY / SECONDS_A_DAY
    peak = mean * PEAK
    events = alone["events"] / alone["jobs"]
    log_bytes = alone["bytes"] / alone["jobs"]
    folded = models["postgres"]["events_per_second"]
    partition = alone["jobs_per_second"]
    yield from _head(mean, peak)
    yield from _cores(alone, models, stack, events, mean, peak)
    yield from _partitions(partition, folded, events, peak)
    yield from _bytes(log_bytes, restore["rss_bytes_per_job"], mean)
    yield from _flat(queue)
    yield f"""
## Hot orgs

An org lies on one partition, so one org gets at most what a partition decides: {partition:,.0f} jobs/s here, or
{partition * SECONDS_A_DAY / 1e6:,.0f} million a day. Before that its cap binds: jobs/s = cap / seconds of a job.
At cap 5 and {stack["one_at_a_time"]["p50"] / 1000:.2f} s a job (p50 of one at a time, the page served locally) that is
{5 / (stack["one_at_a_time"]["p50"] / 1000):,.0f} jobs/s; with pages of 2 s it is 2.5, and a cap of 500 gives 250.
What to do: [hot org](operations/hot_org.md)."""


def _head(mean: float, peak: float) -> Iterator[str]:
    yield f"""# Scaling: a hundred million jobs a day

Made by `python -m bench.scaling --write` from [bench/results](../bench/results), as measured on a machine of two cores
([performance](performance.md)). It is a model: nothing of this size was run. Costs a job are multiplied by the
number of jobs, which holds as far as they do not depend on it ([below](#costs-that-stay)).

{JOBS_A_DAY / 1e6:,.0f} million a day are {mean:,.0f} jobs/s on average.
A peak of {PEAK:g} times that, {peak:,.0f} jobs/s, is to take {HEADROOM:.0%} of what there is at most."""


def _cores(
    alone: dict[str, Any], models: dict[str, Any], stack: dict[str, Any], events: float, mean: float, peak: float
) -> Iterator[str]:
    costs = {name: each["cpu_ms_per_job"] for name, each in stack["processes"].items() if each["cpu_ms_per_job"]}
    loaded = {
        "decider": alone["cpu_us_per_job"] / 1000,
        "broker": alone["broker_cpu_us_per_event"] * events / 1000,
        "projections": models["postgres"]["cpu_us_per_event"]["projection"] * events / 1000,
        "postgres": models["postgres"]["cpu_us_per_event"]["postgres"] * events / 1000,
        "projections-clickhouse": models["clickhouse"]["cpu_us_per_event"]["projection"] * events / 1000,
        "clickhouse": models["clickhouse"]["cpu_us_per_event"]["clickhouse"] * events / 1000,
    }
    yield f"""
## Cores

Small batches: the whole stack at {stack["jobs_per_second"]:g} jobs/s, two cores for everything, where a
transaction holds few jobs and each process also pays for being idle.
Large batches: the process alone under load, as it is at thousands of
jobs a second; the broker then counts what the decider makes it do, not its readers. Cores at the peak, with
headroom, lie between the two: what is measured in large batches is the lower bound.

| process | ms a job, small batches | ms a job, large batches | cores on average | cores for the peak |
|---|---:|---:|---:|---:|"""
    low_sum = high_sum = 0.0
    for name, high in costs.items():
        low = loaded.get(name)
        best = min(high, low) if low is not None else high
        low_sum, high_sum = low_sum + best, high_sum + high
        shown = f"{low:.2f}" if low is not None else ""
        least, most = best * peak / 1000 / HEADROOM, high * peak / 1000 / HEADROOM
        yield f"| {name} | {high:.2f} | {shown} | {best * mean / 1000:.1f} | {_span(least, most)} |"
    least, most = low_sum * peak / 1000 / HEADROOM, high_sum * peak / 1000 / HEADROOM
    yield f"| all | {high_sum:.2f} | {low_sum:.2f} | {low_sum * mean / 1000:.0f} | {_span(least, most)} |"
    yield """
Workers fetch with one provider call a job here; what a page costs to judge and extract grows with the page."""


def _span(least: float, most: float) -> str:
    return f"{math.ceil(least)}" if math.ceil(least) == math.ceil(most) else f"{math.ceil(least)} to {math.ceil(most)}"


def _partitions(partition: float, folded: float, events: float, peak: float) -> Iterator[str]:
    deciders = math.ceil(peak / (partition * HEADROOM))
    models = math.ceil(peak * events / (folded * HEADROOM))
    most = folded / events * HEADROOM * SECONDS_A_DAY / PEAK / 1e6
    yield f"""
## Partitions, and what bounds it

- **Deciders**: one partition alone on a core took {partition:,.0f} jobs/s, so the peak needs {deciders} busy
  partitions, each with a decider process and a core of its own.
  Take 64 and as many orgs that spread evenly: orgs are placed by hash, and the
  busiest partition gets more than its share.
- **The projection into Postgres is what binds first.** It is one process, and folded {folded:,.0f} events/s, which are
  {folded / events:,.0f} jobs/s at {events:.0f} events a job. The peak needs {models} times that with headroom.
  One read model has one writer (its lock is what makes it exact), so beyond {most:,.0f} million jobs a day with such a
  peak run several ledgers (topic prefixes) beside each other, {models} of them for a hundred million, with orgs spread
  over them. One ledger that gets more than {folded / events:,.0f} jobs/s for good
  never catches up: what it lists grows older and older, though nothing is lost.
- **ClickHouse's projection, writers, workers, APIs** either scale by processes or are far from their bound."""


def _bytes(log_bytes: float, live: float, mean: float) -> Iterator[str]:
    rows = [
        ("events, tasks and deliveries as written", log_bytes, 1),
        (f"on disks of brokers, {REPLICATION} copies", log_bytes, REPLICATION),
        ("read model in Postgres, with indexes", POSTGRES_BYTES_PER_JOB, 1),
    ]
    yield """
## Bytes

Before compression by Kafka; jobs as `bench.decider` submits them. Bodies in the blob store come on top: their size is
the pages'. Tasks and deliveries expire; events, and the rows of jobs, stay.

| | bytes a job | MB/s on average | GB a day | TB a year |
|---|---:|---:|---:|---:|"""
    for name, size, copies in rows:
        total = size * copies
        a_day = total * JOBS_A_DAY / GB
        yield f"| {name} | {total:,.0f} | {total * mean / 1e6:.1f} | {a_day:,.0f} | {a_day * 365 / 1000:,.1f} |"
    yield f"""
Memory of deciders, and of snapshotters once more: {live:,.0f} bytes a live job. Where a job lives ten minutes,
{mean * 600 / 1e6:.1f} million live at once: {mean * 600 * live / GB:.1f} GB over all partitions."""


def _flat(queue: dict[str, Any]) -> Iterator[str]:
    yield """
## Costs that stay

`python -m bench.queue`: what a job costs the decider (rules and bytes, without Kafka), by how many are pending and of
how many orgs. Events, bytes and sent records are counted; CPU is the median of the rounds, its ratio taken within each.

| pending | orgs | us of CPU a job | ratio | events | bytes | sent |
|---:|---:|---:|---:|---:|---:|---:|"""
    for row in (*queue["depths"], *queue["orgs"]):
        yield (
            f"| {row['pending']:,} | {row['orgs']:,} | {row['cpu_us_per_job']:g} | {row['ratio']:g} "
            f"| {row['events_per_job']:g} | {row['bytes_per_job']:,g} | {row['sent_per_job']:g} |"
        )
    rows = (*queue["depths"], *queue["orgs"])
    spread = max(abs(row["ratio"] - 1) for row in rows)
    counted = {(row["events_per_job"], row["sent_per_job"]) for row in rows}
    alike = "the same everywhere" if len(counted) == 1 else "not the same everywhere"
    yield f"""
The counted operations are {alike}; CPU moves by at most {spread:.0%}.
How jobs/s grow with 1, 2 and 4 processes is not measured: two cores that also hold brokers and stores would show the
machine's bound, not theirs."""


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_bytes())
    return found


def main(arguments: list[str]) -> int:
    """Write the page, or say whether it is current."""
    if "--write" in arguments:
        PAGE.write_text(page())
        return 0
    if not PAGE.exists() or PAGE.read_text() != page():
        print("docs/scaling.md is not current: run `python -m bench.scaling --write`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
