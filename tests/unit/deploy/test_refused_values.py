"""Values of the chart that cannot work are refused, and named."""

import pytest

from tests.unit.deploy.helm import CHART, helm, values


def refused(*more: str) -> str:
    """Return why the chart does not render."""
    done = helm("template", "r", str(CHART), *more)
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ((), "/kafka"),
        (("--set", "kafka=kafka"), "/kafka"),
        (("--values", values("minimal"), "--set", "registry="), "/registry"),
        (("--values", values("minimal"), "--set", "replicas=2"), "additional properties 'replicas' not allowed"),
        (("--values", values("minimal"), "--set", "settings.JOBLEDGER_POSTGRES=x"), "JOBLEDGER_POSTGRES"),
        (("--values", values("minimal"), "--set", "secrets.postgres.name="), "/secrets/postgres/name"),
        (("--values", values("minimal"), "--set", "services.snapshotter.replicas=2"), "/services/snapshotter/replicas"),
        (("--values", values("minimal"), "--set", "services.api.autoscaling.enabled=true"), "autoscaling"),
        (("--values", values("minimal"), "--set", "services.decider.replicas=65"), "at most ledger.partitions (64)"),
        (("--values", values("minimal"), "--set", "terminationGracePeriodSeconds=19"), "must be at least 20"),
        (("--values", values("minimal"), "--set", "ingress.enabled=true"), "/ingress/hosts"),
        (
            ("--values", values("minimal"), "--set", "keda.enabled=true,services.workers.autoscaling.enabled=true"),
            "keda.prometheus",
        ),
    ],
)
def test_values_that_cannot_work_are_refused_by_name(more: tuple[str, ...], why: str) -> None:
    assert why in refused(*more)
