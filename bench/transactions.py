"""Measure what one Kafka transaction costs, by records, partitions, transactional ids and linger.

One writer commits batch after batch, each to the same partition number of one or more topics, as a decider does. With
two transactional ids the batches alternate between two producers and the next one still begins only after the previous
commit has returned, so the order in the log is the order of the batches. Other work on the machine only ever slows a
case down, so each is measured several times, in rounds, and its best round is printed.

It imports confluent_kafka itself, not through services.runtime: the client is what is being measured.
"""

import argparse
import itertools
import json
import logging
import os
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

CALL_TIMEOUT_SECONDS = 30.0
WARM_UP_SECONDS = 0.5
TRANSACTION_TIMEOUT_MS = 10_000
CONFLICT = "CONCURRENT_TRANSACTIONS"
CONFLICT_TEXT = "another concurrent operation"  # how librdkafka's log words it


@dataclass(frozen=True, slots=True)
class Shape:
    """One case: what a transaction holds and how the next one follows it."""

    records: int
    partitions: int
    ids: int
    linger_ms: float
    rate: float  # transactions/s asked for; 0 = back to back


@dataclass(frozen=True, slots=True)
class Figures:
    """What was seen in one case; times in milliseconds, `conflicts` is None unless it was counted."""

    transactions_per_s: float
    records_per_s: float
    produce_p50: float
    commit_p50: float
    commit_p99: float
    total_p50: float
    total_p99: float
    client_cpu_ms: float  # of all threads, per transaction
    conflicts: float | None  # CONCURRENT_TRANSACTIONS answers per transaction


class ConflictCounter(logging.Handler):
    """Counts the client's own log lines about a transaction that is still being completed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count the line if it is about a conflict."""
        if CONFLICT_TEXT in record.getMessage():
            self.seen += 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run every case in turn, all of them `rounds` times over, and print the best round of each."""
    options = parse(argv)
    topics = [f"bench-transactions-{uuid.uuid4().hex[:8]}-{n}" for n in range(max(options.partitions))]
    admin = AdminClient({"bootstrap.servers": options.bootstrap})
    create(admin, topics)
    best: dict[Shape, Figures] = {}
    try:
        for _ in range(options.rounds):
            for shape in shapes(options):
                figures = measure(shape, topics[: shape.partitions], options)
                known = best.get(shape)
                if known is None or figures.transactions_per_s > known.transactions_per_s:
                    best[shape] = figures
    finally:
        delete(admin, topics)
    if options.json:
        print(json.dumps([asdict(shape) | asdict(figures) for shape, figures in best.items()], indent=1))
    else:
        print(heading(), *(line(shape, figures) for shape, figures in best.items()), sep="\n")
    return 0


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; lists are comma-separated and every combination is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", required=True, help="Kafka's address, host:port")
    parser.add_argument("--records", type=integers, default=[1, 10, 50, 200, 1000], help="records per transaction")
    parser.add_argument("--partitions", type=integers, default=[1, 2, 4], help="partitions touched per transaction")
    parser.add_argument("--ids", type=integers, default=[1, 2], help="alternating transactional ids")
    parser.add_argument("--linger", type=integers, default=[0, 5], help="producer linger.ms")
    parser.add_argument("--rate", type=integers, default=[0], help="transactions/s; 0 = back to back")
    parser.add_argument("--seconds", type=float, default=2.0, help="measured time of each case in each round")
    parser.add_argument("--rounds", type=int, default=3, help="times each case is measured; the best is printed")
    parser.add_argument("--bytes", type=int, default=200, help="size of a record's value")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another producer setting")
    parser.add_argument("--conflicts", action="store_true", help=f"count {CONFLICT} answers (slower: client debug log)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(argv)


def integers(text: str) -> list[int]:
    """Read a comma-separated list of whole numbers."""
    return [int(part) for part in text.split(",")]


def shapes(options: argparse.Namespace) -> Iterator[Shape]:
    """Every combination asked for that has at least one record for each partition."""
    for linger, rate, ids, partitions, records in itertools.product(
        options.linger, options.rate, options.ids, options.partitions, options.records
    ):
        if records >= partitions:
            yield Shape(records, partitions, ids, linger, rate)


def create(admin: AdminClient, topics: list[str]) -> None:
    """Create one-partition topics and wait until they exist."""
    for future in admin.create_topics([NewTopic(name, num_partitions=1) for name in topics]).values():
        future.result(CALL_TIMEOUT_SECONDS)


def delete(admin: AdminClient, topics: list[str]) -> None:
    """Delete the topics again and wait until that is accepted."""
    for future in admin.delete_topics(topics).values():
        future.result(CALL_TIMEOUT_SECONDS)


def measure(shape: Shape, topics: list[str], options: argparse.Namespace) -> Figures:
    """Commit transactions of one shape for the asked time, after a warm-up that is not counted."""
    counter = ConflictCounter()
    producers = [producer(shape, options, counter) for _ in range(shape.ids)]
    payloads = [(topics[n % len(topics)], os.urandom(options.bytes)) for n in range(shape.records)]
    turns = itertools.cycle(producers)
    due = time.perf_counter()
    spent(next(turns), payloads)
    warm_until = due + WARM_UP_SECONDS
    while time.perf_counter() < warm_until:
        due = paced(due, shape.rate)
        spent(next(turns), payloads)

    counter.seen = 0
    samples: list[tuple[float, float]] = []
    cpu = time.process_time()
    start = time.perf_counter()
    while time.perf_counter() < start + options.seconds:
        due = paced(due, shape.rate)
        samples.append(spent(next(turns), payloads))
    elapsed = time.perf_counter() - start
    cpu = time.process_time() - cpu

    count = len(samples)
    produced = [sample[0] for sample in samples]
    committed = [sample[1] for sample in samples]
    totals = [sum(sample) for sample in samples]
    return Figures(
        transactions_per_s=round(count / elapsed, 1),
        records_per_s=round(count * shape.records / elapsed, 1),
        produce_p50=percentile(produced, 50),
        commit_p50=percentile(committed, 50),
        commit_p99=percentile(committed, 99),
        total_p50=percentile(totals, 50),
        total_p99=percentile(totals, 99),
        client_cpu_ms=round(cpu * 1000 / count, 3),
        conflicts=round(counter.seen / count, 2) if options.conflicts else None,
    )


def producer(shape: Shape, options: argparse.Namespace, counter: ConflictCounter) -> Producer:
    """Open a transactional producer with an id of its own, ready for its first transaction."""
    name = f"bench-transactions-{uuid.uuid4().hex}"
    settings: dict[str, str | int | float | bool] = {
        "bootstrap.servers": options.bootstrap,
        "transactional.id": name,
        "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
        "message.timeout.ms": TRANSACTION_TIMEOUT_MS,
        "linger.ms": shape.linger_ms,
        "queue.buffering.max.messages": 500_000,
        "delivery.report.only.error": True,
    }
    settings |= dict(pair.split("=", 1) for pair in options.set)
    if options.conflicts:
        logger = logging.getLogger(name)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        logger.addHandler(counter)
        opened = Producer(settings | {"debug": "eos"}, logger=logger)
    else:
        opened = Producer(settings)
    opened.init_transactions(CALL_TIMEOUT_SECONDS)
    return opened


def paced(due: float, rate: float) -> float:
    """Wait for the time the next transaction is due and return the one after it; rate 0 never waits."""
    if not rate:
        return due
    time.sleep(max(0.0, due - time.perf_counter()))
    return max(due, time.perf_counter() - 1 / rate) + 1 / rate


def spent(writer: Producer, payloads: list[tuple[str, bytes]]) -> tuple[float, float]:
    """Commit one transaction; milliseconds until everything was handed over, and from there until committed."""
    start = time.perf_counter()
    writer.begin_transaction()
    for topic, value in payloads:
        writer.produce(topic, value, partition=0)
    handed_over = time.perf_counter()
    writer.commit_transaction(CALL_TIMEOUT_SECONDS)
    committed = time.perf_counter()
    writer.poll(0)  # serves the client's log, where conflicts are counted
    return (handed_over - start) * 1000, (committed - handed_over) * 1000


def percentile(samples: list[float], percent: int) -> float:
    """Return the smallest sample that at least `percent` of all samples do not exceed, rounded for printing."""
    ordered = sorted(samples)
    return round(ordered[max(0, -(-len(ordered) * percent // 100) - 1)], 2)


def heading() -> str:
    """The table's first line; times in milliseconds."""
    return (
        "linger  rate  ids  partitions  records      tx/s    records/s  produce50  commit50  commit99"
        "   total50   total99  cpu/tx  conflicts/tx"
    )


def line(shape: Shape, figures: Figures) -> str:
    """One case as a line under the heading."""
    conflicts = "-" if figures.conflicts is None else f"{figures.conflicts:.2f}"
    return (
        f"{shape.linger_ms:>6g}{shape.rate:>6g}{shape.ids:>5}{shape.partitions:>12}{shape.records:>9}"
        f"{figures.transactions_per_s:>10.1f}{figures.records_per_s:>13.0f}{figures.produce_p50:>11.2f}"
        f"{figures.commit_p50:>10.2f}{figures.commit_p99:>10.2f}{figures.total_p50:>10.2f}{figures.total_p99:>10.2f}"
        f"{figures.client_cpu_ms:>8.2f}{conflicts:>14}"
    )


if __name__ == "__main__":
    sys.exit(main())
