"""Each fake says which pages of its provider's documentation it follows, and the page on providers says the same."""

import re
import sys
from pathlib import Path

import pytest

from tests.fakes.providers.frame import FakeProvider
from tests.unit.providers.calls import FAKES

ROWS = {
    row.split("`")[1]: row
    for row in (Path(__file__).parents[3] / "docs" / "providers.md").read_text("utf-8").splitlines()
    if re.match(r"\| `\w+` \| `POST", row)
}
TITLE = re.compile(r'"([^"]+)"')


@pytest.mark.parametrize("kind", FAKES, ids=lambda kind: kind.name)
def test_a_fake_names_its_sources_and_the_page_on_providers_names_them_too(kind: type[FakeProvider]) -> None:
    says = sys.modules[kind.__module__].__doc__ or ""
    followed, documented = TITLE.findall(says), TITLE.findall(ROWS[kind.name].split("|")[4])
    assert followed
    assert set(followed) <= set(documented)
    assert f"`POST {kind.path}`" in ROWS[kind.name]
