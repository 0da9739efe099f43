"""What is sealed is opened by the keys that may, and by no other."""

import pytest

from services.runtime.errors import SettingsError, Unsealable
from services.runtime.kept_secrets import Owner, opened_for, sealed_for
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import settings_from

ENVIRON = {f"JOBLEDGER_{name}": "" for name in ("KAFKA", "POSTGRES", "REGISTRY", "BLOBS")}
SECRET = {"apiKey": "key-of-an-org"}
OWNER = Owner("provider", "acme", "zyte")


def test_what_was_sealed_shows_nothing_and_is_opened_again() -> None:
    sealer = Sealer(new_key())
    sealed, _ = sealed_for(sealer, OWNER, SECRET)
    assert b"key-of-an-org" not in sealed
    assert opened_for(sealer, OWNER, sealed) == SECRET


def test_keys_rotate_the_newest_seals_and_the_former_still_open() -> None:
    former, newest = new_key(), new_key()
    sealed, _ = sealed_for(Sealer(former), OWNER, SECRET)
    both = Sealer(f"{newest}, {former}")
    assert opened_for(both, OWNER, sealed) == SECRET
    fresh, _ = sealed_for(both, OWNER, SECRET)
    assert opened_for(Sealer(newest), OWNER, fresh) == SECRET
    assert opened_for(Sealer(newest), OWNER, both.reseal(sealed)) == SECRET


def test_another_key_and_changed_bytes_open_nothing() -> None:
    sealed, _ = sealed_for(Sealer(new_key()), OWNER, SECRET)
    for sealer, data in ((Sealer(new_key()), sealed), (Sealer(new_key()), b""), (Sealer(new_key()), sealed[:-1])):
        for do in (sealer.open, sealer.reseal):
            with pytest.raises(Unsealable, match="JOBLEDGER_CREDENTIALS_KEY"):
                do(data)


@pytest.mark.parametrize(
    "owner",
    [Owner("provider", "rival", "zyte"), Owner("provider", "acme", "decodo"), Owner("warehouse", "acme", "zyte")],
)
def test_a_row_moved_to_another_owner_is_of_no_use(owner: Owner) -> None:
    sealer = Sealer(new_key())
    sealed, _ = sealed_for(sealer, OWNER, SECRET)
    with pytest.raises(Unsealable, match=f"for another {owner.of}, or for another org"):
        opened_for(sealer, owner, sealed)


def test_a_credential_of_before_is_opened_for_its_provider_and_for_nobody_else() -> None:
    sealer = Sealer(new_key())
    former = sealer.seal(b'{"org_id":"acme","provider":"zyte","secret":{"apiKey":"key-of-an-org"}}')
    assert opened_for(sealer, OWNER, former) == SECRET
    for other in (Owner("provider", "rival", "zyte"), Owner("webhook", "acme", "zyte")):
        with pytest.raises(Unsealable, match="sealed for another"):
            opened_for(sealer, other, former)


@pytest.mark.parametrize(
    ("owner", "former", "secret"),
    [
        (
            Owner("webhook", "acme", "w1"),
            b'{"org_id":"acme","webhook_id":"w1","secret":"whsec_a"}',
            {"secret": "whsec_a"},
        ),
        (
            Owner("warehouse", "acme", "own"),
            b'{"org_id":"acme","destination_id":"own","secrets":{"password":"p"}}',
            {"password": "p"},
        ),
    ],
)
def test_secrets_of_before_of_webhooks_and_warehouses_are_opened_too(
    owner: Owner, former: bytes, secret: dict[str, str]
) -> None:
    sealer = Sealer(new_key())
    assert opened_for(sealer, owner, sealer.seal(former)) == secret
    with pytest.raises(Unsealable, match="sealed for another"):
        opened_for(sealer, Owner(owner.of, "rival", owner.name), sealer.seal(former))


def test_what_is_no_secret_is_named_as_that() -> None:
    sealer = Sealer(new_key())
    with pytest.raises(Unsealable, match="give the secret again"):
        opened_for(sealer, OWNER, sealer.seal(b'{"org_id":"acme"}'))


def test_without_a_key_nothing_is_opened() -> None:
    with pytest.raises(Unsealable, match="JOBLEDGER_CREDENTIALS_KEY"):
        opened_for(None, OWNER, sealed_for(Sealer(new_key()), OWNER, SECRET)[0])


def test_a_fingerprint_tells_secrets_apart_and_depends_on_the_key() -> None:
    key = new_key()
    sealer = Sealer(key)
    one = sealed_for(sealer, OWNER, SECRET)[1]
    assert one == sealed_for(Sealer(key), OWNER, SECRET)[1]
    assert one != sealed_for(sealer, OWNER, {"apiKey": "another"})[1]
    assert one != sealed_for(sealer, Owner("provider", "rival", "zyte"), SECRET)[1]
    assert one != sealed_for(Sealer(new_key()), OWNER, SECRET)[1]


@pytest.mark.parametrize("bad", ["secret", "c2hvcnQ=", f"{'A' * 43}=,", ",", "\u00e9" * 44])
def test_what_is_no_list_of_keys_is_named_and_not_shown(bad: str) -> None:
    with pytest.raises(SettingsError, match="JOBLEDGER_CREDENTIALS_KEY takes keys of 32 bytes") as refused:
        settings_from({**ENVIRON, "JOBLEDGER_CREDENTIALS_KEY": bad})
    assert len(bad) < 2 or bad not in str(refused.value)


def test_good_keys_are_taken_and_no_part_of_what_settings_print() -> None:
    keys = f"{new_key()},{new_key()}"
    settings = settings_from({**ENVIRON, "JOBLEDGER_CREDENTIALS_KEY": keys})
    assert settings.credentials_key == keys
    assert keys[:44] not in repr(settings)
