"""What has to go when a job is deleted or expires: its bodies and rows in the stores of ours that it was written to."""

from collections.abc import Iterator

from schemas.events import DeliveryRequested
from services.ledger.job import Job
from services.ledger.warehouses import WAREHOUSES

# The writer of Postgres also takes away the bodies: every job may have left some, whatever its destinations.
STORE, STORE_KIND = "erasure", "postgres"
TABLES = {"clickhouse": "erasure-clickhouse"}  # other kinds of destinations whose tables are ours: who erases there
OUR_STORES = frozenset({STORE_KIND, *TABLES})
AT = "erasure:"  # before the id of a destination whose table is its customer's; no destination has a colon in its id


def erasures(job: Job) -> Iterator[DeliveryRequested]:
    """Yield a request for each store that may hold something of a job; asked again, each is a new generation."""
    yield _erasure(job, STORE, STORE_KIND)
    kinds = {destination.kind for destination in job.destinations}
    for kind, name in TABLES.items():
        if kind in kinds:
            yield _erasure(job, name, kind)


def erasures_at_customers(job: Job) -> Iterator[DeliveryRequested]:
    """Yield a request for each table of a customer that may hold something of a deleted job."""
    for destination in job.destinations:
        if destination.kind in WAREHOUSES:
            yield _erasure(job, AT + destination.destination_id, destination.kind)


def destination_of(name: str) -> str:
    """Return the destination that a delivery of this name goes to."""
    return name.removeprefix(AT)


def _erasure(job: Job, name: str, kind: str) -> DeliveryRequested:
    before = job.delivery(name)
    return DeliveryRequested(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        destination_id=name,
        kind=kind,
        generation=before.generation + 1 if before else 1,
        erase=True,
    )
