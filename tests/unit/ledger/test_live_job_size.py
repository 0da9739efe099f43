"""What a job is made of has the size that the promise of 600 bytes a live job leaves it.

Resident memory is measured in tests/integration/decider/test_live_job_bytes.py and, for a million, by `bench.restore`,
which leaves some bytes only: whoever adds a field here measures there.
"""

import pytest
from msgspec import Struct

from services.ledger.delivery import DeliveryStatus
from services.ledger.job import Job
from services.ledger.job_parts import NOT_ENDED, NOT_RUN, Ending, Run
from tests.unit.ledger.world import World


@pytest.mark.parametrize(("part", "size"), [(Job, 112), (Run, 112), (Ending, 72), (DeliveryStatus, 96)])
def test_what_there_is_of_each_job_has_no_field_more(part: type[Struct], size: int) -> None:
    assert part.__basicsize__ <= size


def test_a_job_that_waits_shares_all_that_it_has_in_common_with_others() -> None:
    world = World().org()
    world.submit("j1")
    world.submit("j2")
    one, other = world.job("j1"), world.job("j2")
    assert one.terms is other.terms
    assert one.run is other.run is NOT_RUN
    assert one.ending is other.ending is NOT_ENDED
