"""What writers say of failures, sealed where the org has erasure."""

from schemas.private import private_bytes
from services.ledger.reports import DeliveryResult
from services.runtime.shredding.codec import unsealed
from services.runtime.shredding.vault import new_job_key
from services.writers.sealed import Sealing
from tests.held_keys import HeldKeys

KEY = new_job_key()
NAME = ("acme", "job-1")


def result(job_id: str = "job-1", org_id: str = "acme", message: str = "marker") -> DeliveryResult:
    """An answer that says something of its job, or nothing."""
    private = private_bytes({"message": message}) if message else b""
    return DeliveryResult(org_id=org_id, job_id=job_id, destination_id="d", generation=1, private=private)


async def test_messages_are_sealed_under_the_keys_of_their_jobs() -> None:
    keys = HeldKeys({NAME: KEY}, {"acme"})
    told, plain, silent = await Sealing(keys).sealed([result(), result(org_id="rival"), result(message="")])
    assert unsealed(told.private, KEY, NAME) == result().private
    assert (plain, silent) == (result(org_id="rival"), result(message=""))


async def test_of_a_job_without_a_key_nothing_is_said() -> None:
    [told] = await Sealing(HeldKeys({}, {"acme"})).sealed([result()])
    assert told == result(message="")


async def test_while_keys_are_away_nothing_is_said_of_any_job() -> None:
    told = await Sealing(HeldKeys({NAME: KEY}, {"acme"}, away=True)).sealed([result(), result(org_id="rival")])
    assert [each.private for each in told] == [b"", b""]


async def test_answers_without_a_message_look_nothing_up() -> None:
    keys = HeldKeys()
    assert await Sealing(keys).sealed([result(message="")]) == [result(message="")]
    assert keys.looks == 0
