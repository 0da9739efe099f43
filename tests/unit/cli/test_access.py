"""Which API the command line calls, and with which key."""

import stat
from pathlib import Path

import pytest

from services.cli.access import access
from services.cli.errors import NoKey
from services.cli.kept_keys import OrgKey, keep, kept_key, kept_keys
from services.localstack.places import StackDir

API = {"JOBLEDGER_API": "http://127.0.0.1:8080/"}


@pytest.fixture
def directory(tmp_path: Path) -> StackDir:
    """A stack directory in which two orgs were registered."""
    directory = StackDir(tmp_path)
    keep(directory, OrgKey("org-old", "jlk_1_old"))
    keep(directory, OrgKey("org-new", "jlk_2_new"))
    return directory


def test_the_environment_names_api_and_key() -> None:
    found = access({**API, "JOBLEDGER_KEY": "jlk_1_a"})
    assert (found.base_url, found.key) == ("http://127.0.0.1:8080", "jlk_1_a")


def test_a_key_kept_with_the_local_stack_is_never_sent_to_another_api(directory: StackDir) -> None:
    with pytest.raises(NoKey, match="set JOBLEDGER_KEY"):
        access({**API, "JOBLEDGER_STACK_DIR": str(directory.root)})


def test_the_newest_key_speaks_unless_an_org_is_named(directory: StackDir) -> None:
    assert kept_key(directory).key == "jlk_2_new"
    assert kept_key(directory, "org-old").key == "jlk_1_old"


def test_an_org_without_a_kept_key_is_refused_naming_those_that_have_one(directory: StackDir) -> None:
    with pytest.raises(NoKey, match="org-old, org-new"):
        kept_key(directory, "org-other")


def test_where_no_key_is_kept_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoKey, match="jobledger demo"):
        kept_key(StackDir(tmp_path))


def test_kept_keys_are_readable_by_their_owner_alone_and_show_in_no_repr(directory: StackDir) -> None:
    assert stat.S_IMODE((directory.root / "keys.json").stat().st_mode) == 0o600
    assert "jlk_" not in repr(kept_keys(directory)) + repr(access({**API, "JOBLEDGER_KEY": "jlk_1_a"}))
