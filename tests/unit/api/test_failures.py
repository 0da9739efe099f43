"""How many calls may come without a good key."""

import pytest

from api.auth import Keyring
from api.errors import Problem
from api.failures import ALL_FACTOR, Failures
from tests.unit.api.test_auth import GRANT, KEY, SECRET, Database
from tests.unit.api.test_limits import Clock

RATE, BURST = 5, 10
HERE, THERE = "192.0.2.1", "192.0.2.2"


def keyring_of(clock: Clock) -> tuple[Keyring, Database]:
    """Return a keyring that limits failures, and the database behind it."""
    database = Database()
    return Keyring(database.find, "operator", database.note, clock, Failures(RATE, clock)), database


async def code_of(keyring: Keyring, text: str, address: str = HERE) -> str:
    """Return what a call with this key is refused as; "": it is not."""
    try:
        await keyring.caller(f"Bearer {text}", address)
    except Problem as problem:
        return problem.code
    return ""


def guess(number: int) -> str:
    """Return a key that nobody has."""
    return f"jlk_{number:016x}_{SECRET}"


async def test_an_address_fails_so_often_and_is_then_refused_before_anything_is_looked_up_or_compared() -> None:
    clock = Clock()
    keyring, database = keyring_of(clock)
    said = [await code_of(keyring, guess(number)) for number in range(BURST + 5)]
    assert said == ["unauthenticated"] * BURST + ["rate_limited"] * 5
    assert database.asked == BURST
    with pytest.raises(Problem, match="this address") as refused:
        await keyring.caller(f"Bearer {guess(0)}", HERE)
    assert refused.value.headers["Retry-After"] == "1"
    assert await code_of(keyring, "operator") == "rate_limited", "who guesses hears nothing of a good guess"
    assert await code_of(keyring, "operator", THERE) == ""
    assert await code_of(keyring, guess(99), THERE) == "unauthenticated"
    clock.now = 1.0
    said = [await code_of(keyring, "no key of ours") for _ in range(RATE + 1)]
    assert said[-2:] == ["unauthenticated", "rate_limited"]


async def test_a_key_that_was_good_here_waits_for_nobodys_guesses() -> None:
    clock = Clock()
    keyring, database = keyring_of(clock)
    assert await code_of(keyring, KEY) == ""
    for number in range(BURST + 1):
        await code_of(keyring, guess(number))
    clock.now = 0.01
    assert await code_of(keyring, KEY) == ""
    database.live = False
    clock.now = 600.0
    assert await code_of(keyring, KEY) == "unauthenticated", "revoked: it is like any other now"
    said = [await code_of(keyring, KEY) for _ in range(BURST)]
    assert said == ["unauthenticated"] * (BURST - 1) + ["rate_limited"]


async def test_keys_that_are_not_known_yet_wait_while_many_addresses_guess() -> None:
    clock = Clock()
    keyring, database = keyring_of(clock)
    most = int(BURST * ALL_FACTOR)
    said = [await code_of(keyring, guess(number), f"10.0.{number // 250}.{number % 250}") for number in range(most + 3)]
    assert said == ["unauthenticated"] * most + ["rate_limited"] * 3
    assert database.asked == most
    assert await code_of(keyring, "operator", THERE) == "", "nothing is looked up for the operator"
    assert await code_of(keyring, GRANT.key_id, THERE) == "unauthenticated"
    assert await code_of(keyring, KEY, THERE) == "rate_limited"
    clock.now = 1.0
    assert await code_of(keyring, KEY, THERE) == ""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2", True),
        ("", "192.0.2.1", False),
    ],
)
async def test_whose_an_address_is(one: str, other: str, same: bool) -> None:
    keyring, _ = keyring_of(Clock())
    for number in range(BURST):
        await code_of(keyring, guess(number), one)
    assert (await code_of(keyring, guess(BURST), other) == "rate_limited") is same


async def test_without_a_rate_nobody_is_refused() -> None:
    database = Database()
    keyring = Keyring(database.find, "", database.note, Clock())
    assert {await code_of(keyring, guess(number)) for number in range(300)} == {"unauthenticated"}
