"""What scenarios run on beside the stack of all tests: the API as its own tests have it, a stack that may stop."""

import os
from collections.abc import Iterator

import pytest

from services.localstack.places import StackDir
from services.localstack.stack import Stack
from tests.integration.api.conftest import acme as acme
from tests.integration.api.conftest import api as api
from tests.integration.api.conftest import pocket as pocket
from tests.integration.api.conftest import rival as rival
from tests.integration.api.conftest import session as session
from tests.integration.api.conftest import start_api as start_api
from tests.integration.api.conftest import with_operator as with_operator


@pytest.fixture(scope="module")
def own(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that may be stopped without harm to other tests; `stack` says first whether one can run here."""
    made = Stack(StackDir(tmp_path_factory.mktemp("own")), os.environ | {"JOBLEDGER_PARTITIONS": "4"})
    if os.environ.get("JOBLEDGER_KAFKA") or os.environ.get("JOBLEDGER_POSTGRES"):
        pytest.skip("needs a broker and a Postgres of its own to stop; JOBLEDGER_KAFKA or JOBLEDGER_POSTGRES is set")
    try:
        made.start()
        yield made
    finally:
        made.stop()
