"""The chart: with each values file of its matrix it lints and renders, and Kubernetes knows every field of that."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.localstack.services import SERVICES, VERIFICATION, WAREHOUSE_WRITERS
from services.runtime.process import STOP_SECONDS
from services.runtime.settings import Settings, settings_from
from services.runtime.topics import all_topics
from tests.unit.deploy.helm import CHART, helm, values
from tests.unit.deploy.tools import ROOT

MATRIX = ("minimal", "full", "bare")
KUBERNETES = ("1.29", "1.37")  # the oldest whose schemas are at hand, and the newest
OTHERS = {"ScaledObject", "ServiceMonitor"}  # of KEDA and of Prometheus' operator: no schemas of Kubernetes
NAMES = {"operator_key": "operatorKey", "credentials_key": "credentialsKey", "signing_key": "signingKey"}
MIB, MILLI = 1024 * 1024, 1000
UNITS = {"Mi": MIB, "Gi": 1024 * MIB}
EVERY = [*SERVICES, VERIFICATION, *WAREHOUSE_WRITERS.values()]
Found = dict[tuple[str, str], dict[str, Any]]


def rendered(name: str, *more: str) -> Found:
    """Return what the chart makes of a values file, by kind and name without that of the release."""
    done = helm("template", "r", str(CHART), "--namespace", "prod", "--values", values(name), *more)
    assert done.returncode == 0, done.stderr
    found = [each for each in yaml.safe_load_all(done.stdout) if each]
    assert len({(each["kind"], each["metadata"]["name"]) for each in found}) == len(found), "a name is there twice"
    return {
        (each["kind"], each["metadata"]["name"].removeprefix("r-jobledger").removeprefix("-")): each for each in found
    }


@pytest.fixture(scope="module", params=MATRIX)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def full() -> Found:
    return rendered("full")


def workloads(found: Found) -> dict[str, dict[str, Any]]:
    """Return what runs processes, by the name of the process."""
    return {name: each for (kind, name), each in found.items() if kind in ("Deployment", "StatefulSet")}


def container_of(workload: dict[str, Any]) -> dict[str, Any]:
    [container] = workload["spec"]["template"]["spec"]["containers"]
    found: dict[str, Any] = container
    return found


def environ_of(container: dict[str, Any]) -> dict[str, str]:
    """Return the environment as a pod would have it, secrets and fields of the pod replaced by what they could be."""
    stand_ins = {"JOBLEDGER_INSTANCE": "0", "JOBLEDGER_CREDENTIALS_KEY": "", "JOBLEDGER_POSTGRES": "postgresql://h/d"}
    names = [each["name"] for each in container["env"]]
    assert len(set(names)) == len(names), "a variable is set twice"
    return {each["name"]: each.get("value", stand_ins.get(each["name"], "http://there")) for each in container["env"]}


def number(quantity: str) -> float:
    """Return a quantity of Kubernetes in bytes or cores."""
    if quantity.endswith("m"):
        return int(quantity[:-1]) / MILLI
    return int(quantity[:-2]) * UNITS[quantity[-2:]]


def test_the_matrix_is_all_that_lies_there() -> None:
    assert {path.stem for path in (CHART / "ci").iterdir()} == set(MATRIX)


def test_helm_finds_nothing_to_say(name: str) -> None:
    done = helm("lint", "--strict", "--quiet", str(CHART), "--values", values(name))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize("version", KUBERNETES)
def test_kubernetes_knows_every_field(name: str, version: str) -> None:
    found = rendered(name, "--kube-version", version)
    import kubernetes_validate

    for (kind, _), each in found.items():
        if kind not in OTHERS:
            kubernetes_validate.validate(each, version, strict=True)
    assert {kind for kind, _ in found} & OTHERS == (OTHERS if name == "full" else set())


def test_a_field_that_kubernetes_does_not_know_is_noticed(full: Found) -> None:
    import kubernetes_validate

    api = json.loads(json.dumps(full["Deployment", "api"]))
    container_of(api)["readinesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(api, KUBERNETES[-1], strict=True)


def test_the_processes_are_those_of_the_local_stack() -> None:
    known = yaml.safe_load((CHART / "files" / "services.yaml").read_text())
    assert known.keys() == {service.name for service in EVERY}
    for service in EVERY:
        said = known[service.name]
        assert [said["module"]] == list(service.arguments[1:])
        assert said.get("knows", []) == [NAMES[secret] for secret in service.knows]
        assert said.get("settings", {}) == dict(service.settings)
        assert (said.get("clickhouse") == "needed") == service.needs_clickhouse


def test_topics_whose_records_are_counted_are_there() -> None:
    known = yaml.safe_load((CHART / "files" / "services.yaml").read_text())
    topics = {topic.name for topic in all_topics(Settings("", "", "", ""))}
    counted = {f"jobledger.{said['waiting']}" for said in known.values() if "waiting" in said}
    assert counted <= topics
    assert len(counted) == len([topic for topic in topics if ".tasks." in topic or ".deliveries." in topic])


def test_all_processes_run_where_all_are_asked_for(full: Found) -> None:
    assert workloads(full).keys() == {service.name for service in EVERY}


def test_what_needs_a_secret_that_there_is_not_is_left_out() -> None:
    without = {service.name for service in SERVICES if not service.needs_clickhouse}
    assert workloads(rendered("minimal")).keys() == without
    assert "projections-heads" not in workloads(rendered("bare"))


def test_each_process_has_every_setting_and_no_secret_that_is_not_its_own(name: str) -> None:
    known = {service.name: service for service in EVERY}
    for process, workload in workloads(rendered(name)).items():
        environ = environ_of(container_of(workload))
        settings_from(environ)
        unknown = environ.keys() - {f"JOBLEDGER_{field.upper()}" for field in Settings.__annotations__}
        assert unknown <= {"EXAMPLE"}, "no setting of ours"
        secrets = {secret for secret in NAMES if f"JOBLEDGER_{secret.upper()}" in environ}
        assert secrets <= set(known[process].knows)
        assert secrets == set(known[process].knows) or name == "bare"
        assert "JOBLEDGER_CLICKHOUSE" in environ or not known[process].needs_clickhouse


def test_passwords_and_keys_come_from_secrets_that_exist(full: Found) -> None:
    assert not any(kind == "Secret" for kind, _ in full)
    workers = {each["name"]: each for each in container_of(full["Deployment", "workers"])["env"]}
    assert workers["JOBLEDGER_POSTGRES"]["valueFrom"]["secretKeyRef"] == {"name": "workers-postgres", "key": "uri"}
    assert workers["JOBLEDGER_REGISTRY"]["valueFrom"]["secretKeyRef"] == {"name": "ledger-registry", "key": "uri"}


def test_a_deciders_ordinal_says_which_partitions_it_owns(full: Found) -> None:
    decider = full["StatefulSet", "decider"]
    env = {each["name"]: each for each in container_of(decider)["env"]}
    ordinal = env["JOBLEDGER_INSTANCE"]["valueFrom"]["fieldRef"]["fieldPath"]
    assert ordinal == "metadata.labels['apps.kubernetes.io/pod-index']"
    assert env["JOBLEDGER_INSTANCES"]["value"] == str(decider["spec"]["replicas"]) == "8"
    owned = [
        settings_from({**environ_of(container_of(decider)), "JOBLEDGER_INSTANCE": str(each)}).partitions_owned()
        for each in range(8)
    ]
    assert sorted(partition for each in owned for partition in each) == list(range(64))


def test_probes_ask_what_a_process_answers(full: Found) -> None:
    for process, workload in workloads(full).items():
        said = container_of(workload)
        asked = {probe: said[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "liveness", "readiness")}
        ready = "/ready?part=postgres" if process == "api" else "/ready"
        assert asked == {"startup": "/health", "liveness": "/health", "readiness": ready}
        assert {"name": "http", "containerPort": 8080} in said["ports"]
        start = said["startupProbe"]
        assert start["periodSeconds"] * start["failureThreshold"] > 60, (
            "an API waits so long for its broker, and is deaf"
        )


def test_a_pod_is_given_longer_than_its_process_takes_to_leave(name: str) -> None:
    for workload in workloads(rendered(name)).values():
        pod = workload["spec"]["template"]["spec"]
        hook = container_of(workload).get("lifecycle", {})
        slept = int(hook["preStop"]["exec"]["command"][1]) if hook else 0
        assert pod["terminationGracePeriodSeconds"] >= slept + STOP_SECONDS + 5


def test_pods_run_without_root_on_a_root_that_is_read_only(full: Found) -> None:
    for (kind, _), each in full.items():
        if kind in ("Deployment", "StatefulSet", "Job"):
            pod = each["spec"]["template"]["spec"]
            assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
            assert pod["automountServiceAccountToken"] is False
            assert container_of(each)["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_an_upgrade_prepares_first_and_then_goes_on_side_by_side(full: Found) -> None:
    job = full["Job", "prepare-1"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert container_of(job)["args"] == ["services.cli", "prepare"]
    settings_from(environ_of(container_of(job)))
    account = full["ServiceAccount", ""]["metadata"]["name"]
    assert job["spec"]["template"]["spec"]["serviceAccountName"] != account, "it is made after the hook of an install"
    for process, workload in workloads(full).items():
        if process != "decider":
            assert workload["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_requests_carry_what_was_measured() -> None:
    measured = json.loads((ROOT / "bench" / "results" / "latest.json").read_text())
    restored = json.loads((ROOT / "bench" / "results" / "restore.json").read_text())["restored_peak_bytes_per_job"]
    own = yaml.safe_load((CHART / "values.yaml").read_text())["services"]
    for process, said in own.items():
        requests, limits = said["resources"]["requests"], said["resources"]["limits"]
        assert "cpu" not in limits, "a process that is held up loses its leases"
        assert number(limits["memory"]) >= 2 * number(requests["memory"])
        if figures := measured["processes"].get(process):
            rate = measured["paced_jobs_per_second"]
            cores = figures["idle_percent"] / 100 + figures["cpu_ms_per_job"] * rate / 1000
            assert number(requests["cpu"]) >= cores, process
            assert number(requests["memory"]) >= 1.5 * figures["memory"]["resident"] * MIB, process
    live = 1_000_000  # jobs of the whole ledger
    assert number(own["decider"]["resources"]["limits"]["memory"]) > restored * live / own["decider"]["replicas"]
    assert number(own["snapshotter"]["resources"]["limits"]["memory"]) > restored * live


def test_every_process_has_a_budget_of_disruption_and_is_spread(full: Found) -> None:
    for process, workload in workloads(full).items():
        labels = workload["spec"]["template"]["metadata"]["labels"]
        selector = full["PodDisruptionBudget", process]["spec"]["selector"]["matchLabels"]
        assert selector.items() <= labels.items()
        spread = workload["spec"]["template"]["spec"]["topologySpreadConstraints"]
        assert [each["topologyKey"] for each in spread] == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
        assert all(each["labelSelector"]["matchLabels"] == selector for each in spread)


def test_keda_scales_by_records_that_wait(full: Found) -> None:
    scaled = {name: each for (kind, name), each in full.items() if kind == "ScaledObject"}
    assert scaled.keys() == {"workers", "writers", "writers-customer-postgres"}
    for process, each in scaled.items():
        assert "replicas" not in full["Deployment", process]["spec"], "helm and KEDA would take turns"
        assert each["spec"]["scaleTargetRef"]["name"] == full["Deployment", process]["metadata"]["name"]
    [trigger] = scaled["writers"]["spec"]["triggers"]
    assert (
        'jobledger_records_waiting{namespace="prod",topic="jobledger.deliveries.postgres"}'
        in (trigger["metadata"]["query"])
    )
    assert (scaled["writers"]["spec"]["minReplicaCount"], trigger["metadata"]["threshold"]) == (3, "200")


def test_prometheus_finds_every_process_and_nobody_else_gets_in(full: Found) -> None:
    service = full["Service", "metrics"]
    monitored = full["ServiceMonitor", ""]["spec"]
    assert monitored["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitored["endpoints"][0]["path"] == "/metrics"
    for workload in workloads(full).values():
        labels = workload["spec"]["template"]["metadata"]["labels"]
        assert service["spec"]["selector"].items() <= labels.items()
        assert full["NetworkPolicy", ""]["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    assert rendered("bare")["NetworkPolicy", ""]["spec"]["ingress"] == []
    reached = {name.removesuffix("-internet") for kind, name in full if kind == "NetworkPolicy" if "-internet" in name}
    known = yaml.safe_load((CHART / "files" / "services.yaml").read_text())
    assert reached == {process for process, said in known.items() if said.get("internet")}


def test_the_ingress_leads_to_the_api(full: Found) -> None:
    [rule] = full["Ingress", "api"]["spec"]["rules"]
    [path] = rule["http"]["paths"]
    service = full["Service", "api"]
    assert path["backend"]["service"] == {"name": service["metadata"]["name"], "port": {"name": "http"}}
    labels = full["Deployment", "api"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()


def test_the_chart_is_of_this_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = next(line for line in (ROOT / "pyproject.toml").read_text().splitlines() if line.startswith("version"))
    assert version == f'version = "{chart["appVersion"]}"'
    assert f"jobledger:${{TAG:-{chart['appVersion']}}}" in (ROOT / "deploy" / "compose" / "compose.yaml").read_text()


def test_every_setting_named_in_values_is_one() -> None:
    text = "".join(path.read_text() for path in [CHART / "values.schema.json", *Path(CHART / "ci").iterdir()])
    named = {word.strip('",:{} ') for word in text.replace(":", " ").split() if "JOBLEDGER_" in word}
    fields = {f"JOBLEDGER_{field.upper()}" for field in Settings.__annotations__}
    assert {name for name in named if name.startswith("JOBLEDGER_")} <= fields
