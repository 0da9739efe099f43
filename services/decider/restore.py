"""Brings the state of a partition back: from a snapshot and its log, up to a fence after which only we can write."""

import gc
import time

from schemas.codec import Decoder
from services.ledger.apply import apply
from services.ledger.policy import Policy
from services.ledger.record import digest_of
from services.ledger.state import Ledger
from services.runtime import topics
from services.runtime.beginning import beginning
from services.runtime.errors import LogGap
from services.runtime.metrics import timed
from services.runtime.raw_log import Checkpoint
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from services.runtime.strangers import Judge, Stranger, by_reading, noting, place

READ_BATCH = 10_000
PATIENCE_SECONDS = 60.0  # without a single record, while the fence is known to lie ahead
NOTED = noting("decider")


def restore(settings: Settings, partition: int, decoder: Decoder, policy: Policy, fence_offset: int) -> Ledger:
    """Fold every event of the partition before the fence, or raise LogGap where the log has a hole.

    What somebody else wrote there is left out, as by every other reader (ADR 5).
    """
    started = time.monotonic()
    ledger, checkpoint = beginning(settings, partition, policy, fence_offset)
    _fold_up_to(fence_offset, settings, ledger, decoder, checkpoint)
    gc.freeze()  # it stays for the life of the process: no collection has to go through it
    timed("restore_seconds", time.monotonic() - started, partition=str(partition))
    return ledger


def _fold_up_to(
    fence_offset: int, settings: Settings, ledger: Ledger, decoder: Decoder, checkpoint: Checkpoint
) -> None:
    partition, judge = ledger.partition, by_reading(decoder.whole)
    reader = LogReader(settings, topics.events(settings), {partition: checkpoint.next_offset})
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    try:
        while True:
            records = reader.poll(READ_BATCH, 1.0)
            for record in records:
                _fold(ledger, judge, record)
                if record.offset >= fence_offset:
                    return
            if records:
                give_up_at = time.monotonic() + PATIENCE_SECONDS
            elif time.monotonic() > give_up_at:
                raise LogGap(f"partition {partition}: the log ends before the fence at offset {fence_offset}")
    finally:
        reader.close()


def _fold(ledger: Ledger, judge: Judge, record: Record) -> None:
    try:
        claim = judge(record, ledger.position)
    except Stranger as stranger:
        NOTED(record, stranger)
        return
    if claim is None:
        return
    if claim.recorded is None:
        at = place(record.topic, record.partition, record.offset)
        raise LogGap(f"{at}: an event type unknown to this version: a newer decider wrote it; upgrade")
    apply(ledger, claim.recorded, digest_of(record.value))
