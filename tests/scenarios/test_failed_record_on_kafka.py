"""Section "Claim, rebalance, crash", 8: a record that failed is taken again, and no commit moves past it."""

import asyncio

import pytest

from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.streams.acks import Done
from tests.eventually import eventually
from tests.integration.streams.taking import Taking, Transactions, committed, consuming

RECORDS = [b"%d" % number for number in range(100)]
FAILS = RECORDS[37]


class FailingOnce(Taking):
    """Finishes every record but one, on which it fails."""

    async def handle(self, record: Record, done: Done) -> None:
        """Take a record, or fail on it."""
        if record.value == FAILS:
            raise RuntimeError("a fault of ours")
        await super().handle(record, done)


@pytest.mark.kafka
async def test_08_a_record_that_failed_is_taken_again_and_none_is_passed_over(ledger: Settings) -> None:
    Transactions(ledger).put(*RECORDS)
    before = FailingOnce()
    async with consuming(ledger, before):
        with pytest.raises(RuntimeError, match="a fault of ours"):
            await asyncio.wait_for(before.fault, 60)
    assert before.values() == RECORDS[:37]
    assert committed(ledger) <= 37
    after = Taking()
    async with consuming(ledger, after):
        await eventually(lambda: after.values()[-1:] == RECORDS[-1:], 60)
    again = RECORDS.index(after.values()[0])
    assert again <= 37
    assert after.values() == RECORDS[again:], "in order, the failed one and all behind it"
