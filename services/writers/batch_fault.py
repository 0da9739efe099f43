"""What is wrong with a record of deliveries although it is one: nobody could answer it, or this writer must not."""

from services.ledger.tasks import DeliveryBatch
from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.streams.intake import misplaced


def batch_fault(settings: Settings, batch: DeliveryBatch, record: Record) -> str | None:
    """Return what is wrong with a record that this writer has read, or None."""
    if not batch.deliveries:
        return "no delivery in it"
    if {each.kind for each in batch.deliveries} != {settings.writer_kind}:
        return f"deliveries of another kind than {settings.writer_kind}"
    jobs = ((each.partition, each.job_id) for each in batch.deliveries)
    return misplaced(record, settings, batch.deliveries[0].org_id, jobs)
