"""The Compose file is one by its published schema, runs what the local stack runs, and starts it in order."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from jsonschema import Draft202012Validator

from services.localstack.services import SERVICES, Service
from services.runtime.process import STOP_SECONDS
from services.runtime.settings import settings_from
from tests.unit.deploy.tools import COMPOSE_SCHEMA, ROOT, needed, promtool

COMPOSE = ROOT / "deploy" / "compose"
NAMES = {"broker": "kafka"}  # what the list of the local stack calls otherwise
SERVERS = {"kafka", "postgres", "clickhouse", "registry"}
KEY = "A" * 43 + "="  # 32 bytes in base64
VARIABLE = re.compile(r"\$\{(\w+)(?::(\?|-)([^}]*))?\}")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The file, its merges done."""
    read: dict[str, Any] = yaml.safe_load((COMPOSE / "compose.yaml").read_text())
    return read


@pytest.fixture(params=SERVICES, ids=lambda service: str(service.name))
def service(request: pytest.FixtureRequest) -> Service:
    found: Service = request.param
    return found


def filled(value: object) -> str:
    """Return a value with its variables replaced: one that is asked for by a key, others by their default."""
    return VARIABLE.sub(lambda match: match[3] if match[2] == "-" else KEY, str(value))


def test_it_is_one_by_the_published_schema(compose: dict[str, Any]) -> None:
    needed()
    faults = Draft202012Validator(json.loads(COMPOSE_SCHEMA.read_text())).iter_errors(compose)
    assert [f"{fault.json_path}: {fault.message}" for fault in faults] == []


def test_the_schema_refuses_what_is_none() -> None:
    needed()
    schema = Draft202012Validator(json.loads(COMPOSE_SCHEMA.read_text()))
    assert not schema.is_valid({"services": {"kafka": {"imagee": "apache/kafka"}}})


def test_it_runs_what_the_local_stack_runs(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {service.name for service in SERVICES} | SERVERS | {
        "prometheus",
        "grafana",
        "prepare",
    }


def test_a_process_has_its_module_and_every_setting_that_it_needs(compose: dict[str, Any], service: Service) -> None:
    said = compose["services"][service.name]
    assert said["command"] == list(service.arguments[1:])
    environ = {name: filled(value) for name, value in said["environment"].items()}
    settings = settings_from(environ)
    assert settings.blobs == "file:///var/lib/jobledger/blobs"
    secrets = {"operator_key", "credentials_key", "signing_key"}
    assert {name for name in secrets if getattr(settings, name)} == set(service.knows)
    assert dict(service.settings).items() <= environ.items()
    assert settings.clickhouse or not service.needs_clickhouse


def test_a_process_waits_for_what_it_stands_on(compose: dict[str, Any], service: Service) -> None:
    waits = compose["services"][service.name]["depends_on"]
    assert waits["prepare"] == {"condition": "service_completed_successfully"}
    assert {NAMES.get(name, name) for name in service.needs} | {"registry", "prepare"} == set(waits)
    assert {each["condition"] for name, each in waits.items() if name != "prepare"} == {"service_healthy"}


def test_what_is_waited_for_can_become_healthy(compose: dict[str, Any]) -> None:
    dockerfile = (ROOT / "deploy" / "docker" / "Dockerfile").read_text()
    for name, said in compose["services"].items():
        for other, how in said.get("depends_on", {}).items():
            there = compose["services"][other]
            if how["condition"] == "service_healthy":
                assert "healthcheck" in there or ("image" in there and "HEALTHCHECK" in dockerfile), (name, other)
            else:
                assert there["restart"] == "no", "what starts again never completes"


def test_nothing_of_ours_runs_as_root_or_writes_to_its_root(compose: dict[str, Any]) -> None:
    for service in [*(service.name for service in SERVICES), "prepare"]:
        said = compose["services"][service]
        assert (said["read_only"], said["tmpfs"], said["cap_drop"]) == (True, ["/tmp"], ["ALL"])
        assert said["security_opt"] == ["no-new-privileges:true"]
        assert int(said["stop_grace_period"].removesuffix("s")) > STOP_SECONDS


def test_each_variable_that_is_asked_for_is_in_the_example_and_no_secret_has_a_default() -> None:
    asked = {match[1]: match[2] for match in VARIABLE.finditer((COMPOSE / "compose.yaml").read_text())}
    example = set(re.findall(r"^(\w+)=", (COMPOSE / ".env.example").read_text(), re.MULTILINE))
    assert {name for name, how in asked.items() if how == "?"} == example
    assert {name for name, how in asked.items() if how == "-"} == {"BLOBS", "PARTITIONS", "TAG"}


def test_nothing_is_published_beyond_this_machine(compose: dict[str, Any]) -> None:
    published = [port for said in compose["services"].values() for port in said.get("ports", [])]
    assert sorted(published) == ["127.0.0.1:3000:3000", "127.0.0.1:8080:8080"]


def test_grafana_is_given_its_dashboards_and_what_its_data_source_asks_for(compose: dict[str, Any]) -> None:
    grafana = compose["services"]["grafana"]
    mounted = dict(volume.split(":")[:2] for volume in grafana["volumes"])
    provisioned = COMPOSE / "../grafana/provisioning"
    for source, target in mounted.items():
        assert not source.startswith(".") or (COMPOSE / source).is_dir(), source
        assert Path(target).is_absolute()
    asked = set(re.findall(r"\$\{(\w+)\}", "".join(path.read_text() for path in provisioned.rglob("*.yaml"))))
    assert asked <= set(grafana["environment"])
    [provider] = yaml.safe_load((provisioned / "dashboards" / "jobledger.yaml").read_text())["providers"]
    assert mounted["../grafana/dashboards"] == provider["options"]["path"]


def test_everything_that_is_mounted_from_here_is_here(compose: dict[str, Any]) -> None:
    for said in compose["services"].values():
        for source in (volume.split(":")[0] for volume in said.get("volumes", [])):
            assert (COMPOSE / source).exists() if source.startswith(".") else source in compose["volumes"], source


def test_prometheus_scrapes_every_process_and_has_the_alerts(compose: dict[str, Any]) -> None:
    prometheus = compose["services"]["prometheus"]
    volumes = [volume.split(":") for volume in prometheus["volumes"]]
    mounted = {target: (COMPOSE / source).resolve() for source, target, *_ in volumes}
    [at] = [said.removeprefix("--config.file=") for said in prometheus["command"] if said.startswith("--config.file=")]
    config = yaml.safe_load(mounted[at].read_text())
    assert [mounted[path] for path in config["rule_files"]] == [ROOT / "deploy" / "alerts" / "jobledger.yaml"]
    [scraped] = config["scrape_configs"]
    assert "jobledger" in scraped["job_name"], "alerts and the dashboard ask for such a job"
    assert "metrics_path" not in scraped, "/metrics is what it asks for then, and what a process has"
    [targets] = [each["targets"] for each in scraped["static_configs"]]
    [port] = re.findall(r"JOBLEDGER_PORT=(\d+)", (ROOT / "deploy" / "docker" / "Dockerfile").read_text())
    assert sorted(targets) == sorted(f"{service.name}:{port}" for service in SERVICES)


def test_grafana_asks_the_prometheus_that_is_here_once_it_is_ready(compose: dict[str, Any]) -> None:
    grafana, prometheus = compose["services"]["grafana"], compose["services"]["prometheus"]
    asked = urlsplit(grafana["environment"]["JOBLEDGER_PROMETHEUS"])
    assert asked.hostname in compose["services"]
    assert grafana["depends_on"][asked.hostname] == {"condition": "service_healthy"}
    assert f":{asked.port}/-/ready" in prometheus["healthcheck"]["test"][-1]


def test_an_image_of_others_has_its_version(compose: dict[str, Any]) -> None:
    images = [said["image"] for said in compose["services"].values() if not said["image"].startswith("jobledger:")]
    assert [image for image in images if not re.fullmatch(r"[\w./-]+:v?\d[\d.]*", image)] == []


def test_prometheus_takes_its_configuration() -> None:
    ran = promtool("check", "config", "--syntax-only", str(COMPOSE / "prometheus" / "prometheus.yaml"))
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
