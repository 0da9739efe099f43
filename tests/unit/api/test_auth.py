"""Callers and their keys."""

import asyncio
import hashlib
from dataclasses import replace

import pytest
from multidict import MultiDict

from api import auth
from api.auth import Caller, Keyring, refuse_key_in_url, require
from api.config.keys import Grant
from api.errors import Problem

SECRET = "5" * 64
KEY = f"jlk_{'a' * 16}_{SECRET}"
GRANT = Grant("a" * 16, "acme", hashlib.sha256(SECRET.encode()).digest(), ["read"], 3)


class Database:
    """Knows one key until it is revoked."""

    def __init__(self) -> None:
        self.live = True
        self.asked = 0
        self.noted: list[str] = []

    async def note(self, grant: Grant) -> None:
        """Note that a key is in use."""
        self.noted.append(grant.key_id)

    async def find(self, key_id: str) -> Grant | None:
        """Return the grant of the key."""
        self.asked += 1
        return GRANT if self.live and key_id == GRANT.key_id else None


async def test_a_key_that_is_revoked_while_it_is_looked_up_is_looked_up_anew() -> None:
    database, asked, answer = Database(), asyncio.Event(), asyncio.Event()

    async def find(key_id: str) -> Grant | None:
        """Return what is true now, later."""
        grant = await database.find(key_id)
        asked.set()
        await answer.wait()
        return grant

    keyring = Keyring(find, "", database.note)
    call = asyncio.create_task(keyring.caller(f"Bearer {KEY}"))
    await asked.wait()
    database.live = False
    keyring.forget(GRANT.key_id)
    answer.set()
    assert (await call).org_id == "acme"  # it came before
    with pytest.raises(Problem, match="revoked"):
        await keyring.caller(f"Bearer {KEY}")


async def test_a_revoked_key_dies_when_it_is_looked_up_again() -> None:
    now = 0.0
    database = Database()
    keyring = Keyring(database.find, "", database.note, lambda: now)
    assert await keyring.caller(f"Bearer {KEY}") == Caller(f"api:{GRANT.key_id}", "acme", 3, frozenset({"read"}))
    database.live = False
    now = auth.TRUST_SECONDS - 0.1
    assert (await keyring.caller(f"bearer {KEY}")).org_id == "acme"
    assert database.asked == 1
    now = auth.TRUST_SECONDS
    with pytest.raises(Problem, match="revoked"):
        await keyring.caller(f"Bearer {KEY}")


async def test_calls_at_once_look_a_key_up_once_and_no_later_call_waits_for_that() -> None:
    now, asked, answered = 0.0, 0, asyncio.Event()

    async def find(_key_id: str) -> Grant:
        nonlocal asked
        asked += 1
        await answered.wait()
        return GRANT

    keyring = Keyring(find, "", Database().note, lambda: now)
    calls = [asyncio.create_task(keyring.caller(f"Bearer {KEY}")) for _ in range(20)]
    await asyncio.sleep(0)
    answered.set()
    await asyncio.gather(*calls)
    assert asked == 1
    answered.clear()  # whoever is asked from now on does not answer
    now = auth.RENEW_SECONDS
    for _ in range(3):
        assert (await keyring.caller(f"Bearer {KEY}")).org_id == GRANT.org_id
        await asyncio.sleep(0)
    assert asked == 2
    now = auth.TRUST_SECONDS + 1
    late = asyncio.create_task(keyring.caller(f"Bearer {KEY}"))
    await asyncio.sleep(0)
    assert not late.done()
    answered.set()
    await late
    assert asked == 2


async def test_a_look_up_that_failed_is_told_to_those_who_wait_and_made_again_by_the_next() -> None:
    answers: list[Grant | None] = [None, GRANT]

    async def find(_key_id: str) -> Grant:
        if (found := answers.pop(0)) is None:
            raise OSError("away")
        return found

    keyring = Keyring(find, "", Database().note, lambda: 0.0)
    calls = [asyncio.create_task(keyring.caller(f"Bearer {KEY}")) for _ in range(3)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(each) for each in outcomes] == [OSError] * 3
    assert (await keyring.caller(f"Bearer {KEY}")).org_id == GRANT.org_id


async def test_the_use_of_a_key_is_noted_once_in_some_minutes_and_only_of_one_that_opens() -> None:
    now = 0.0
    database = Database()
    keyring = Keyring(database.find, "", database.note, lambda: now)
    with pytest.raises(Problem):
        await keyring.caller(f"Bearer {KEY[:-1]}6")
    assert database.noted == []
    for now in (0.0, 1.0, auth.USED_SECONDS - 1, auth.USED_SECONDS):  # noqa: B007  # the clock reads it
        await keyring.caller(f"Bearer {KEY}")
    assert database.noted == [GRANT.key_id] * 2


async def test_an_unknown_key_is_asked_for_once_in_a_while_and_memory_stays_bounded() -> None:
    database = Database()
    keyring = Keyring(database.find, "", database.note, lambda: 0.0)
    for number in range(auth.MAX_REMEMBERED + 10):
        for _ in range(2):
            with pytest.raises(Problem):
                await keyring.caller(f"Bearer jlk_{number:016x}_{SECRET}")
    assert database.asked == auth.MAX_REMEMBERED + 10


async def test_unknown_keys_push_no_key_out_that_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "MAX_REMEMBERED", 5)
    database = Database()
    keyring = Keyring(database.find, "", database.note, lambda: 0.0)
    await keyring.caller(f"Bearer {KEY}")
    for number in range(20):
        with pytest.raises(Problem):
            await keyring.caller(f"Bearer jlk_{number:016x}_{SECRET}")
    await keyring.caller(f"Bearer {KEY}")
    assert database.asked == 21


async def test_what_is_remembered_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "MAX_REMEMBERED", 5)

    async def find(key_id: str) -> Grant | None:
        return replace(GRANT, key_id=key_id) if key_id.startswith("a") else None

    keyring = Keyring(find, "", Database().note, lambda: 0.0)
    for number in range(20):
        await keyring.caller(f"Bearer jlk_a{number:015x}_{SECRET}")
        with pytest.raises(Problem):
            await keyring.caller(f"Bearer jlk_{number:016x}_{SECRET}")
    assert (len(keyring._known), len(keyring._unknown)) == (5, 5)


async def test_without_an_operator_key_nobody_is_the_operator() -> None:
    keyring = Keyring(Database().find, "", Database().note)
    for header in ("Bearer ", "Bearer", "", "Bearer \x00"):
        with pytest.raises(Problem):
            await keyring.caller(header)
    named = Keyring(Database().find, "öperator", Database().note)
    assert (await named.caller("Bearer öperator")).actor == "operator"


def test_the_operator_is_no_org_and_an_org_is_no_operator() -> None:
    with pytest.raises(Problem, match="key of an org"):
        require(Caller(scopes=frozenset({"operator"})), "read")
    with pytest.raises(Problem, match="operator key"):
        require(Caller(scopes=frozenset({"read", "submit", "admin"})), "operator")
    with pytest.raises(Problem, match="scope submit"):
        require(Caller(scopes=frozenset({"read"})), "submit")


@pytest.mark.parametrize("query", [{"key": "x"}, {"Access_Token": "x"}, {"a": KEY}, {KEY: ""}, {"a": f"x{KEY}"}])
def test_a_key_in_the_query_is_seen_by_name_or_by_form(query: dict[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        refuse_key_in_url(MultiDict(query), "/api/v1/jobs")
    assert KEY not in str(caught.value.body)


def test_other_queries_pass() -> None:
    refuse_key_in_url(MultiDict({"status": "pending", "cursor": "abc"}), "/api/v1/jobs/jlk")


async def test_a_key_opens_the_same_with_the_prefix_that_clients_of_spiders_expect() -> None:
    database = Database()
    keyring = Keyring(database.find, "", database.note)
    sent = KEY.replace("jlk_", "sk_")
    assert await keyring.caller(f"Bearer {sent}") == await keyring.caller(f"Bearer {KEY}")
    assert database.asked == 1
    with pytest.raises(Problem, match="revoked"):
        await keyring.caller(f"Bearer {sent.replace('sk_', 'pk_')}")


@pytest.mark.parametrize("place", ["/spider/{}", "/spider/{}/x"])
def test_such_a_key_in_a_url_is_refused_and_a_word_that_ends_like_its_prefix_is_none(place: str) -> None:
    with pytest.raises(Problem) as refused:
        refuse_key_in_url(MultiDict(), place.format(KEY.replace("jlk_", "sk_")))
    assert refused.value.code == "key_in_url"
    refuse_key_in_url(MultiDict(), place.format(f"task_{'a' * 16}"))
    refuse_key_in_url(MultiDict(), place.format("sk_one"))


def test_a_call_that_is_the_operators_too_takes_its_key_and_that_of_the_scope() -> None:
    operator, reader = Caller(scopes=frozenset({"operator"})), Caller(org_id="acme", scopes=frozenset({"read"}))
    auth.require(operator, "read", operator_too=True)
    auth.require(reader, "read", operator_too=True)
    for caller, access in ((operator, "read"), (reader, "submit")):
        with pytest.raises(Problem) as refused:
            auth.require(caller, access, operator_too=caller is reader)
        assert refused.value.code == "forbidden"
