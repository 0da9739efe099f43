"""Settings of the unblocker."""

from pathlib import Path

import pytest

from services.runtime.errors import SettingsError
from services.runtime.settings import settings_from

BASE = {
    "JOBLEDGER_KAFKA": "h:1",
    "JOBLEDGER_POSTGRES": "postgresql://h/d",
    "JOBLEDGER_REGISTRY": "http://h",
    "JOBLEDGER_BLOBS": "file:///tmp",
}


def test_its_key_may_lie_in_a_file_and_shows_nowhere(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    settings = settings_from(
        BASE | {"JOBLEDGER_UNBLOCKER_URL": "http://h:1", "JOBLEDGER_UNBLOCKER_KEY_FILE": str(tmp_path / "key")}
    )
    assert settings.unblocker_key == "s3cret"
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value"), [("URL", "http://me:key@h:1"), ("URL", "h:1"), ("COUNTRY_USER", "me-country-de")]
)
def test_an_address_with_a_key_in_it_and_a_user_without_a_country_are_refused(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"JOBLEDGER_UNBLOCKER_{name}"):
        settings_from(BASE | {f"JOBLEDGER_UNBLOCKER_{name}": value})
