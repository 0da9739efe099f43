"""What a local stack runs: nothing for warehouses, unless their writers are asked for."""

import pytest

from services.ledger.warehouses import WAREHOUSES
from services.localstack.errors import StackFault
from services.localstack.services import LOCAL_WRITERS, SERVICES, WRITERS, services_of
from services.runtime.topics import DELIVERY_KINDS


def test_writers_of_warehouses_run_where_they_are_asked_for() -> None:
    assert services_of({}) == services_of({LOCAL_WRITERS: ""}) == SERVICES
    more = services_of({LOCAL_WRITERS: "bigquery, customer_postgres"})[len(SERVICES) :]
    assert [service.name for service in more] == ["writers-customer-postgres", "writers-bigquery"]
    assert [dict(service.settings)["JOBLEDGER_WRITER_KIND"] for service in more] == ["customer_postgres", "bigquery"]
    assert {service.knows for service in more} == {("credentials_key",)}
    every = services_of({LOCAL_WRITERS: "all"})
    assert len(every) == len(SERVICES) + len(WAREHOUSES)


@pytest.mark.parametrize("named", ["oracle", "bigquery,oracle", "postgres"])
def test_a_kind_that_is_none_is_refused_with_those_there_are(named: str) -> None:
    with pytest.raises(StackFault, match=r"customer_postgres, .*databricks, or all, not (oracle|postgres)"):
        services_of({LOCAL_WRITERS: named})


def test_each_kind_of_deliveries_has_a_process_that_can_be_named() -> None:
    assert sorted(WRITERS.values()) == sorted(DELIVERY_KINDS)
    named = {service.name for service in services_of({LOCAL_WRITERS: "all"}) if service.name.startswith("writers")}
    assert set(WRITERS) == named
