"""The processes of jobledger itself that a local stack runs, as data."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from services.ledger.warehouses import WAREHOUSES
from services.localstack.errors import StackFault
from services.localstack.places import StackDir
from services.localstack.ports import LOOPBACK, port_for
from services.localstack.program import Program, http_answers
from services.localstack.secret_file import Secrets

READY = "/ready"
READY_SECONDS = 300.0  # a decider reads its log back first: a ledger of 150,000 events took 25 s on two busy cores
LOCAL_WRITERS = "JOBLEDGER_LOCAL_WRITERS"  # kinds of warehouses whose writers run too, comma-separated, or `all`
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


def _writer(kind: str, store: str = "postgres") -> Service:
    """The process that writes to one kind of destinations; of warehouses and endpoints our Postgres tells which."""
    return Service(
        f"writers-{kind.replace('_', '-')}",
        ("-m", "services.writers"),
        needs=("broker", store),
        knows=("credentials_key",),
        settings=(("JOBLEDGER_WRITER_KIND", kind),),
        needs_clickhouse=store == "clickhouse",
    )


SERVICES = (
    Service("decider", ("-m", "services.decider"), needs=("broker",)),
    Service("workers", ("-m", "services.workers"), needs=("broker", "decider"), knows=("credentials_key",)),
    Service(
        "workers-module",
        ("-m", "services.workers.modules"),
        needs=("broker", "decider", "postgres"),
        knows=("credentials_key",),
    ),
    Service(
        "workers-spider",
        ("-m", "services.workers.spiders"),
        needs=("broker", "decider"),
        knows=("credentials_key",),
    ),
    Service("writers", ("-m", "services.writers"), needs=("broker", "postgres"), knows=("credentials_key",)),
    _writer("webhook"),
    _writer("clickhouse", "clickhouse"),
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
WAREHOUSE_WRITERS = {kind: _writer(kind) for kind in WAREHOUSES}  # nobody starts them who does not ask for them
WRITERS = {  # what each process of writers writes to, by its name
    "writers": "postgres",
    "writers-webhook": "webhook",
    "writers-clickhouse": "clickhouse",
    **{service.name: kind for kind, service in WAREHOUSE_WRITERS.items()},
}


def services_of(environ: Mapping[str, str]) -> tuple[Service, ...]:
    """Return what runs: SERVICES, and what the settings ask for: verification, writers of warehouses."""
    named = [kind for each in environ.get(LOCAL_WRITERS, "").split(",") if (kind := each.strip())]
    wanted = list(WAREHOUSES) if named == ["all"] else named
    if unknown := [kind for kind in wanted if kind not in WAREHOUSE_WRITERS]:
        raise StackFault(f"{LOCAL_WRITERS} takes {', '.join(WAREHOUSES)}, or all, not {', '.join(unknown)}")
    asked = [VERIFICATION] if environ.get(VERIFICATION_SETTING) else []
    return (*SERVICES, *asked, *(service for kind, service in WAREHOUSE_WRITERS.items() if kind in wanted))


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
