"""The processes of jobledger itself that a local stack runs, as data."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from services.localstack.places import StackDir
from services.localstack.ports import LOOPBACK, port_for
from services.localstack.program import Program, http_answers
from services.localstack.secret_file import Secrets

READY = "/ready"
READY_SECONDS = 300.0  # a decider reads its log back first: a ledger of 150,000 events took 25 s on two busy cores
GIVEN = ("operator_key", "credentials_key", "signing_key")  # secrets that some service is given, and the others not
STOP_SECONDS = 12.0  # a service stops within 10 s


@dataclass(frozen=True, slots=True)
class Service:
    """One process: Python's arguments, and settings beside the common ones."""

    name: str
    arguments: tuple[str, ...]
    needs: tuple[str, ...] = ()  # processes without which it makes no progress: red while one of them stands still
    knows: tuple[str, ...] = ()  # the secrets that it is given, by their names
    settings: tuple[tuple[str, str], ...] = ()  # environment variables of its own
    needs_clickhouse: bool = False  # it is left out where there is none


SERVICES = (
    Service("decider", ("-m", "services.decider"), needs=("broker",)),
    Service("workers", ("-m", "services.workers"), needs=("broker", "decider"), knows=("credentials_key",)),
    Service("writers", ("-m", "services.writers"), needs=("broker", "postgres"), knows=("credentials_key",)),
    Service(
        "writers-webhook",
        ("-m", "services.writers"),
        needs=("broker", "postgres"),
        knows=("credentials_key",),
        settings=(("JOBLEDGER_WRITER_KIND", "webhook"),),
    ),
    Service(
        "writers-clickhouse",
        ("-m", "services.writers"),
        needs=("broker", "clickhouse"),
        knows=("credentials_key",),
        settings=(("JOBLEDGER_WRITER_KIND", "clickhouse"),),
        needs_clickhouse=True,
    ),
    Service("projections", ("-m", "projections"), needs=("broker", "postgres"), knows=("credentials_key",)),
    Service(
        "projections-clickhouse",
        ("-m", "projections.clickhouse"),
        needs=("broker", "postgres", "clickhouse"),
        needs_clickhouse=True,
    ),
    Service("projections-heads", ("-m", "projections.heads"), needs=("broker",), knows=("signing_key",)),
    Service("snapshotter", ("-m", "services.snapshotter"), needs=("broker",)),
    Service(
        "scheduler",
        ("-m", "services.scheduler"),
        needs=("broker", "postgres", "decider"),
        knows=("credentials_key",),
    ),
    Service("api", ("-m", "api"), needs=("broker", "postgres", "decider"), knows=("operator_key", "credentials_key")),
)

# Left out unless its setting is given: it reads the whole log again and again.
VERIFICATION = Service(
    "verification", ("-m", "projections.verification"), needs=("broker", "postgres"), knows=("credentials_key",)
)
VERIFICATION_SETTING = "JOBLEDGER_VERIFY_PAUSE_SECONDS"


def services_for(environ: Mapping[str, str]) -> tuple[Service, ...]:
    """Return the services of a stack with these settings."""
    return (*SERVICES, VERIFICATION) if environ.get(VERIFICATION_SETTING) else SERVICES


# Each has `migrate(url)` and runs as `python -m`; all may run at once.
MIGRATIONS = (
    "api.config.migrate",
    "projections.migrate",
    "projections.clickhouse.migrate",
    "services.writers.migrate",
)


def service_program(service: Service, directory: StackDir, environ: Mapping[str, str], secrets: Secrets) -> Program:
    """Return what to run; `environ` holds the stack's common settings."""
    port = port_for(directory.ports, service.name)
    own = {**dict(service.settings), "JOBLEDGER_HOST": LOOPBACK, "JOBLEDGER_PORT": str(port)}
    own |= {f"JOBLEDGER_{name.upper()}": getattr(secrets, name) if name in service.knows else "" for name in GIVEN}
    return Program(
        name=service.name,
        argv=(sys.executable, "-P", *service.arguments),  # -P: not what happens to lie in the current directory
        environ={**environ, **own},
        ready=partial(http_answers, port, READY),
        port=port,
        endpoint=f"http://{LOOPBACK}:{port}",
        path=READY,
        ready_seconds=READY_SECONDS,
        stop_seconds=STOP_SECONDS,
    )
