"""Keys of jobs under keys of orgs under the keys of the setting."""

import pytest

from services.runtime.errors import KeysAway, Unsealable
from services.runtime.sealing import Sealer, new_key
from services.runtime.shredding.vault import KeyRow, OrgKey, Vault, new_job_key

SETTING = new_key()


def made(setting: str = SETTING) -> tuple[Vault, bytes, OrgKey]:
    """A vault, a key of acme as it is kept, and opened."""
    vault = Vault(setting)
    kept = vault.new_org_key("acme", 1)
    return vault, kept, vault.org_key("acme", 1, kept)


def row(org_key: OrgKey, kept: bytes, job_id: str, key: bytes) -> KeyRow:
    """A row of the keys of jobs, with that of its org."""
    return "acme", job_id, 1, org_key.sealed_job_key(("acme", job_id), key), kept


def test_the_key_of_a_job_is_kept_sealed_and_opened_again() -> None:
    vault, kept, org_key = made()
    keys = {("acme", name): new_job_key() for name in ("a", "b")}
    rows = [row(org_key, kept, job_id, key) for (_, job_id), key in keys.items()]
    assert vault.opened(rows) == keys
    assert Vault(SETTING).opened(rows) == keys
    assert not any(key in sealed for key in keys.values() for _, _, _, sealed, _ in rows)
    assert org_key.key not in kept


def test_a_row_moved_to_another_job_is_as_good_as_destroyed_and_the_others_open() -> None:
    vault, kept, org_key = made()
    key = new_job_key()
    moved = ("acme", "other", 1, org_key.sealed_job_key(("acme", "a"), key), kept)
    assert vault.opened([moved, row(org_key, kept, "a", key)]) == {("acme", "a"): key}


def test_an_org_key_moved_to_another_org_is_refused() -> None:
    vault, kept, _ = made()
    for name, number in (("rival", 1), ("acme", 2)):
        with pytest.raises(Unsealable, match="another org"):
            vault.org_key(name, number, kept)


def test_without_the_setting_it_is_not_known_whether_there_are_keys() -> None:
    _, kept, org_key = made()
    closed = Vault("")
    assert not closed
    with pytest.raises(KeysAway, match="JOBLEDGER_CREDENTIALS_KEY"):
        closed.opened([row(org_key, kept, "a", new_job_key())])
    with pytest.raises(KeysAway):
        closed.new_org_key("acme", 1)
    assert closed.opened([]) == {}


def test_with_another_setting_they_do_not_open_and_after_resealing_they_do() -> None:
    _, kept, org_key = made()
    key, new = new_job_key(), new_key()
    with pytest.raises(Unsealable):
        Vault(new).opened([row(org_key, kept, "a", key)])
    resealed = Sealer(f"{new},{SETTING}").reseal(kept)
    assert Vault(new).opened([row(org_key, resealed, "a", key)]) == {("acme", "a"): key}


def test_no_repr_shows_a_key() -> None:
    _, _, org_key = made()
    assert str(org_key.key) not in repr(org_key)
    assert "key=" not in repr(org_key).replace("key_id=", "")


def test_digests_of_requests_depend_on_the_key_of_the_org() -> None:
    assert made()[2].digest_key() != made()[2].digest_key()
