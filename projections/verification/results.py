"""Checks `extraction_results`: it belongs to its writer, but every acknowledged delivery has its row there, and every
row its delivery."""

from collections.abc import Iterator

from projections.postgres.rows import JobKey
from projections.verification.faults import Fault
from projections.verification.log import OpenRecords, PartitionLog, following
from schemas.codec import Decoder
from schemas.events import DeliveryAcked, DeliveryRequested

TABLE = "extraction.extraction_results"
KIND = "postgres"  # the kind of destination whose rows these are
Results = dict[JobKey, int]  # generation of each row


def check_acked(log: PartitionLog, results: Results | None) -> Iterator[Fault]:
    """Yield acknowledged deliveries whose row is missing or older than the ACK. Takes the jobs' rows out of results."""
    for (org_id, job_id), events in log.jobs.items():
        asked: set[tuple[str, int]] = set()
        acked = 0
        for each in events:
            match each.event:
                case DeliveryRequested(kind=kind, destination_id=name, generation=generation) if kind == KIND:
                    asked.add((name, generation))
                case DeliveryAcked(destination_id=name, generation=generation) if (name, generation) in asked:
                    acked = max(acked, generation)
        if not asked:
            continue
        found = results.pop((org_id, job_id), 0) if results is not None else 0
        if found < acked:
            yield Fault(TABLE, org_id, job_id, "generation", f"at least {acked}", str(found) if found else "no row")


def check_unasked(results: Results, open_records: OpenRecords, decoder: Decoder, partitions: range) -> Iterator[Fault]:
    """Yield rows that no delivery asked for.

    A row may be ahead of the checkpoint, never of the log: what asked for it was committed before it was written.
    """
    for partition in partitions if results else ():
        records = open_records(partition)
        try:
            for record in following(records):
                recorded = decoder.decode(record.value)
                if recorded is not None and isinstance(recorded.event, DeliveryRequested):
                    results.pop((recorded.event.org_id, recorded.event.job_id), None)
        finally:
            records.close()
    for org_id, job_id in results:
        yield Fault(TABLE, org_id, job_id, "row", "none", "one that no delivery asked for")
