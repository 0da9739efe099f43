"""Scenarios of the API run on the instances of its own tests: real sockets, real Postgres, a pocket ledger."""

from tests.integration.api.conftest import acme as acme
from tests.integration.api.conftest import api as api
from tests.integration.api.conftest import pocket as pocket
from tests.integration.api.conftest import rival as rival
from tests.integration.api.conftest import session as session
from tests.integration.api.conftest import start_api as start_api
from tests.integration.api.conftest import with_operator as with_operator
