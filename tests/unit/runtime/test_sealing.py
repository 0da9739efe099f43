"""What is sealed is opened by the keys that may, and by no other."""

import pytest
from cryptography.fernet import Fernet

from services.runtime.credential import opened_credential, sealed_credential
from services.runtime.errors import SettingsError, Unsealable
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import settings_from

ENVIRON = {f"JOBLEDGER_{name}": "" for name in ("KAFKA", "POSTGRES", "REGISTRY", "BLOBS")}
SECRET = {"apiKey": "key-of-an-org"}


def test_what_was_sealed_shows_nothing_and_is_opened_again() -> None:
    sealer = Sealer(new_key())
    sealed, _ = sealed_credential(sealer, "acme", "zyte", SECRET)
    assert b"key-of-an-org" not in sealed
    assert opened_credential(sealer, "acme", "zyte", sealed) == SECRET


def test_keys_rotate_the_newest_seals_and_the_former_still_open() -> None:
    former, newest = new_key(), new_key()
    sealed, _ = sealed_credential(Sealer(former), "acme", "zyte", SECRET)
    both = Sealer(f"{newest}, {former}")
    assert opened_credential(both, "acme", "zyte", sealed) == SECRET
    fresh, _ = sealed_credential(both, "acme", "zyte", SECRET)
    assert opened_credential(Sealer(newest), "acme", "zyte", fresh) == SECRET
    assert opened_credential(Sealer(newest), "acme", "zyte", both.reseal(sealed)) == SECRET


def test_another_key_and_changed_bytes_open_nothing() -> None:
    sealed, _ = sealed_credential(Sealer(new_key()), "acme", "zyte", SECRET)
    for sealer, data in ((Sealer(new_key()), sealed), (Sealer(new_key()), b""), (Sealer(new_key()), sealed[:-1])):
        for do in (sealer.open, sealer.reseal):
            with pytest.raises(Unsealable, match="JOBLEDGER_CREDENTIALS_KEY"):
                do(data)


@pytest.mark.parametrize("owner", [("rival", "zyte"), ("acme", "decodo")])
def test_a_row_moved_to_another_org_or_provider_is_of_no_use(owner: tuple[str, str]) -> None:
    sealer = Sealer(new_key())
    sealed, _ = sealed_credential(sealer, "acme", "zyte", SECRET)
    with pytest.raises(Unsealable, match="another org or provider"):
        opened_credential(sealer, *owner, sealed)


def test_a_fingerprint_tells_secrets_apart_and_depends_on_the_key() -> None:
    key = new_key()
    sealer = Sealer(key)
    one = sealed_credential(sealer, "acme", "zyte", SECRET)[1]
    assert one == sealed_credential(Sealer(key), "acme", "zyte", SECRET)[1]
    assert one != sealed_credential(sealer, "acme", "zyte", {"apiKey": "another"})[1]
    assert one != sealed_credential(sealer, "rival", "zyte", SECRET)[1]
    assert one != sealed_credential(Sealer(new_key()), "acme", "zyte", SECRET)[1]


@pytest.mark.parametrize("bad", ["secret", "c2hvcnQ=", f"{Fernet.generate_key().decode()},", ",", "\u00e9" * 44])
def test_what_is_no_list_of_keys_is_named_and_not_shown(bad: str) -> None:
    with pytest.raises(SettingsError, match="JOBLEDGER_CREDENTIALS_KEY takes keys of 32 bytes") as refused:
        settings_from({**ENVIRON, "JOBLEDGER_CREDENTIALS_KEY": bad})
    assert len(bad) < 2 or bad not in str(refused.value)


def test_good_keys_are_taken_and_no_part_of_what_settings_print() -> None:
    keys = f"{new_key()},{new_key()}"
    settings = settings_from({**ENVIRON, "JOBLEDGER_CREDENTIALS_KEY": keys})
    assert settings.credentials_key == keys
    assert keys[:44] not in repr(settings)
