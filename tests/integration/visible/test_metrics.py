"""Each process of a running stack exports the metrics that are declared for it, and no others of ours."""

import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from services.localstack.services import READY, SERVICES, WAREHOUSE_WRITERS, WRITERS
from services.runtime.metrics import METRICS, declared_for, exported, kind_of
from tests.integration.visible.standing import Standing

pytestmark = pytest.mark.stack
SHARED = dict.fromkeys(WRITERS, "writers")  # processes of one service
NAMES = [service.name for service in (*SERVICES, WAREHOUSE_WRITERS["customer_postgres"])]


@pytest.mark.parametrize("process", NAMES)
def test_what_a_process_exports_is_what_is_declared_for_it(standing: Standing, process: str) -> None:
    found = standing.state().process(process)
    assert found is not None
    assert found.path == READY
    with urllib.request.urlopen(f"{found.endpoint}/metrics", timeout=30) as answer:
        families = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
    ours = {name: family for name, family in families.items() if name.startswith("jobledger_")}
    declared = {exported(name).removesuffix("_total"): name for name in declared_for(SHARED.get(process, process))}
    assert set(ours) == set(declared)
    for told, name in declared.items():
        assert (ours[told].documentation, ours[told].type) == (METRICS[name].meaning, kind_of(name))
        for sample in ours[told].samples:
            assert set(sample.labels) - {"le"} == set(METRICS[name].labels), sample
    assert {sample.value for sample in ours["jobledger_process_ready"].samples} <= {0.0, 1.0}
