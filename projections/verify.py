"""Compares the log with the read models, each at one position of each partition, while traffic goes on.

The read model's checkpoints are read first, in a snapshot; then each partition of the log is read up to exactly its
checkpoint and folded by other code than the projection's. A partition at a time, so that memory holds no more.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing

from msgspec.structs import replace
from psycopg.errors import UndefinedTable

from projections.checkpoints import clickhouse_checkpoints
from projections.postgres.rows import Checkpoint, instant
from projections.private import opener
from projections.verification.bodies import BLOBS, Bodies, Look, sizes_in
from projections.verification.clickhouse import verify_clickhouse
from projections.verification.compare import TABLES, compare, expected_rows
from projections.verification.documents import documents_of
from projections.verification.expected import Columns
from projections.verification.faults import Fault, Report
from projections.verification.fires import TABLE as FIRES
from projections.verification.fires import check_fires, compare_fires
from projections.verification.items import check_items
from projections.verification.keys import check_keys, sealed_in
from projections.verification.log import OpenRecords, PartitionLog, read_partition
from projections.verification.results import Results, Store
from projections.verification.snapshot import Snapshot, snapshot_of
from projections.verification.stores import ClickHouseResults, PostgresResults
from projections.verification.usage import TRANSACTIONS, USAGE, compare_transactions, compare_usage, usage_of
from schemas.codec import Decoder
from services.runtime.blob import BlobStore
from services.runtime.clickhouse import connect
from services.runtime.reader import LogReader
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from services.runtime.topics import events


def verify(settings: Settings, looking: Callable[[BlobStore], Look] = sizes_in) -> Report:
    """Verify the ledger that the settings point at; `looking` says how closely bodies are looked at."""
    try:
        return _verified(settings, looking)
    except UndefinedTable:  # a rebuild has replaced the version that was being read
        return _verified(settings, looking)


def _verified(settings: Settings, looking: Callable[[BlobStore], Look]) -> Report:

    def open_records(partition: int) -> LogReader:
        return LogReader(settings, events(settings), {partition: 0})

    decode, blobs = decoder(settings), BlobStore(settings.blobs)
    with snapshot_of(settings.postgres) as snapshot, ExitStack() as stack:
        snapshot.checkpoints()  # takes the snapshot: rows in ClickHouse are looked at later
        stores: list[Store] = [PostgresResults(snapshot)]
        if settings.clickhouse:
            stores.append(ClickHouseResults(stack.enter_context(closing(connect(settings.clickhouse)))))
        results = [Results(store, documents_of(blobs)) for store in stores]
        bodies = Bodies(looking(blobs))
        vault = Vault(settings.credentials_key)
        report = verify_snapshot(snapshot, open_records, decode, range(settings.partitions), results, bodies, vault)
    return _with_clickhouse(report, settings, open_records, decode)


def _with_clickhouse(report: Report, settings: Settings, open_records: OpenRecords, decode: Decoder) -> Report:
    """Add what ClickHouse says, where there is one."""
    if not settings.clickhouse:
        return replace(report, clickhouse="not compared: JOBLEDGER_CLICKHOUSE is not set")
    checkpoints = clickhouse_checkpoints(settings.postgres)
    if not checkpoints:
        return replace(report, clickhouse="not compared: nothing was projected there yet")
    rows, faults = verify_clickhouse(settings, checkpoints, open_records, decode)
    said = f"compared up to position {', '.join(f'{p}:{at}' for p, at in checkpoints.items())}"
    return replace(report, rows=report.rows | rows, faults=report.faults + faults, clickhouse=said)


def verify_snapshot(
    snapshot: Snapshot,
    open_records: OpenRecords,
    decode: Decoder,
    partitions: range,
    results: Sequence[Results],
    bodies: Bodies,
    vault: Vault,
) -> Report:
    """Compare a snapshot, and what destinations hold, with the log up to the snapshot's checkpoints."""
    checkpoints = snapshot.checkpoints()
    rows: Counter[str] = Counter(dict.fromkeys((*TABLES, FIRES, USAGE, TRANSACTIONS), 0))
    faults: list[Fault] = []
    positions: dict[int, int] = {}
    number_of_events = number_of_jobs = strangers = 0
    for partition in partitions:
        checkpoint = checkpoints.pop(partition, None)
        positions[partition], next_offset = (checkpoint.position, checkpoint.next_offset) if checkpoint else (0, 0)
        log = read_partition(open_records, decode, partition, positions[partition], next_offset)
        faults += _check_checkpoint(log, checkpoint)
        keys = snapshot.keys(vault, sealed_in(log))
        faults += check_keys(log, snapshot, keys)
        for table in TABLES:
            found = _counted(rows, table, snapshot.rows(table, partition))
            faults += compare(table, expected_rows(log, table, opener(keys)), found)
        faults += check_fires(log)
        faults += check_items(log)
        faults += compare_fires(log, _counted(rows, FIRES, snapshot.rows(FIRES, partition)))
        faults += _check_usage(log, snapshot, rows)
        for each in results:
            faults += each.check(log)
        faults += bodies.check(log)
        faults += log.faults
        number_of_events += log.events
        number_of_jobs += len(log.jobs)
        strangers += log.strangers
    faults += _strays(snapshot, checkpoints, list(partitions))
    faults += _gate_violations(snapshot)
    for each in results:
        faults += each.unasked(open_records, decode, partitions)
        rows[each.place] = each.rows
    faults += bodies.missing(open_records, decode, partitions)
    rows[BLOBS] = bodies.looked_up
    return Report(positions, number_of_events, number_of_jobs, dict(rows), faults, strangers)


def _check_usage(log: PartitionLog, snapshot: Snapshot, rows: Counter[str]) -> Iterator[Fault]:
    told = usage_of(log)
    yield from compare_usage(told, _counted(rows, USAGE, snapshot.rows(USAGE, log.partition)))
    yield from compare_transactions(told, _counted(rows, TRANSACTIONS, snapshot.rows(TRANSACTIONS, log.partition)))


def _counted(rows: Counter[str], table: str, found: Iterable[Columns]) -> Iterator[Columns]:
    for row in found:
        rows[table] += 1
        yield row


def _check_checkpoint(log: PartitionLog, found: Checkpoint | None) -> Iterator[Fault]:
    """Yield what the checkpoint says otherwise than the event at its position."""
    key = f"partition {log.partition}"
    if found is None:
        yield Fault("checkpoints", "", key, "row", "one", "none")
    elif log.last is not None and log.last.header.position == found.position:
        header = log.last.header
        wanted = Checkpoint(log.partition, header.position, log.next_offset, instant(header.occurred_at), header.cause)
        for name in Checkpoint.__struct_fields__:
            if getattr(wanted, name) != getattr(found, name):
                yield Fault("checkpoints", "", key, name, str(getattr(wanted, name)), str(getattr(found, name)))
    elif found.position == 0 and found != (wanted := Checkpoint(log.partition, next_offset=log.next_offset)):
        yield Fault("checkpoints", "", key, "row", str(wanted), str(found))


def _strays(snapshot: Snapshot, checkpoints: Mapping[int, Checkpoint], partitions: list[int]) -> Iterator[Fault]:
    """Yield rows of partitions that the ledger does not have."""
    for partition in checkpoints:
        yield Fault("checkpoints", "", f"partition {partition}", "row", "none", "one of no partition of the ledger")
    for table in TABLES:
        for row in snapshot.strays(table, partitions):
            yield Fault(table, row["org_id"], row["job_id"], "partition", "one of the ledger", str(row["partition"]))
    for table in (USAGE, TRANSACTIONS):
        for row in snapshot.strays(table, partitions):
            at = str(row["position"])
            yield Fault(table, row["org_id"], at, "partition", "one of the ledger", str(row["partition"]))
    for row in snapshot.strays(FIRES, partitions):
        yield Fault(FIRES, row["org_id"], row["schedule_id"], "partition", "one of the ledger", str(row["partition"]))


def _gate_violations(snapshot: Snapshot) -> Iterator[Fault]:
    for row in snapshot.gate_violations():
        yield Fault("gate_violations", row["org_id"], row["job_id"], "row", "none", row["fault"])
