"""The parts of one local stack as children of this process: start, tend, stop."""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence

from services.localstack import postgres
from services.localstack.broker import Broker, External, broker_program, choose_broker, kind_of
from services.localstack.broker_tansu import Tansu
from services.localstack.child import Child, rotate
from services.localstack.clickhouse.program import NONE, clickhouse_program, has_engine
from services.localstack.errors import StackFault
from services.localstack.places import StackDir
from services.localstack.program import Program
from services.localstack.registry.program import registry_program
from services.localstack.restarts import Restarts
from services.localstack.secret_file import Secrets, secrets_of
from services.localstack.services import Service, service_program
from services.localstack.state import ProcessState
from services.runtime.networks import LOCAL
from services.runtime.settings import SECRET, from_files

DEFAULT_PARTITIONS = "12"
DATABASE = "jobledger"  # of ClickHouse
CONNECTING = "JOBLEDGER_KAFKA_"  # settings that say how clients get to a broker that was given
NO_CLICKHOUSE = "none"  # instead of a URL: there shall be none


def _key(setting: str) -> str:
    return f"JOBLEDGER_{setting.upper()}"


def _silent(_step: str) -> None:
    return


class FreshStartNeeded(Exception):
    """What died cannot be continued on a broker without aborts: everything has to start from nothing."""


class Stack:
    """Broker, Postgres, registry and services below one directory; whoever starts it stops it."""

    def __init__(self, directory: StackDir, environ: Mapping[str, str], tell: Callable[[str], None] = _silent) -> None:
        self.directory = directory
        self.broker: Broker | None = None
        self.environ: dict[str, str] = {}  # what a client of the stack sets; complete once `start` returned
        self._given = from_files(environ)
        self._read = {f"{key}_FILE": "" for key in map(_key, SECRET) if f"{key}_FILE" in environ}  # nobody reads again
        self._tell = tell
        self._children: list[tuple[Child, Restarts]] = []

    @property
    def ephemeral(self) -> bool:
        """Whether all data is lost at the stop."""
        return isinstance(self.broker, Tansu)

    def start(self) -> None:
        """Start broker, Postgres and registry, whichever is not given, and wait until they answer."""
        self.directory.create()
        secrets = secrets_of(self.directory.secrets, self._given)
        self.broker = choose_broker(self._given, self._tell)
        self._tell(f"broker: {self.broker}")
        if self.ephemeral:
            self._forget()
        kafka = self._start_broker(self.broker)
        url = self._start_postgres(secrets)
        registry = self._start_registry()
        clickhouse = self._start_clickhouse()
        for child, _ in self._children:
            self._tell(f"waiting for {child.program.name}")
            child.wait_ready()
        if not self._given.get("JOBLEDGER_POSTGRES"):
            postgres.ensure_database(url)
        self.environ = {
            **{key: value for key, value in self._given.items() if key.startswith(CONNECTING)},
            **self._read,
            "JOBLEDGER_KAFKA": kafka,
            "JOBLEDGER_POSTGRES": url,
            "JOBLEDGER_REGISTRY": registry,
            "JOBLEDGER_CLICKHOUSE": clickhouse,
            "JOBLEDGER_BLOBS": self._given.get("JOBLEDGER_BLOBS") or self.directory.blobs.as_uri(),
            "JOBLEDGER_BROKER": kind_of(self.broker),
            "JOBLEDGER_PARTITIONS": self._given.get("JOBLEDGER_PARTITIONS") or DEFAULT_PARTITIONS,
            "JOBLEDGER_ALLOWED_NETWORKS": self._given.get("JOBLEDGER_ALLOWED_NETWORKS", ",".join(map(str, LOCAL))),
            "JOBLEDGER_STACK_DIR": str(self.directory.root),
        }

    def start_services(self, services: Sequence[Service]) -> None:
        """Start jobledger's own processes on the running parts, and wait until each is ready."""
        secrets = secrets_of(self.directory.secrets, self._given)
        wanted = [each for each in services if self.environ["JOBLEDGER_CLICKHOUSE"] or not each.needs_clickhouse]
        programs = [service_program(each, self.directory, self.environ, secrets) for each in wanted]
        started = [self._run(program) for program in programs]
        for child in started:
            self._tell(f"waiting for {child.program.name}")
            child.wait_ready_patiently(self._tell)

    def tend(self) -> bool:
        """Start again what has died, each after its pause, and say whether anything changed."""
        now = time.monotonic()
        changed = False
        for child, restarts in self._children:
            if child.returncode() is None:
                continue
            if self.ephemeral and child.program.name in ("broker", "decider"):
                raise FreshStartNeeded(f"{child.program.name} ended")
            if restarts.is_due(now):
                child.start()
                restarts.started(time.monotonic())
            elif not restarts.is_waiting:
                restarts.died(now)
            else:
                continue
            changed = True
        return changed

    def rotate_logs(self) -> None:
        """Move every log that has grown too long aside."""
        for child, _ in self._children:
            rotate(child.log)

    def processes(self) -> tuple[ProcessState, ...]:
        """What runs now, in the order in which it was started."""
        return tuple(
            ProcessState(
                name=child.program.name,
                identity=child.identity,
                since=child.since,
                restarts=restarts.count,
                port=child.program.port,
                endpoint=child.program.endpoint,
                path=child.program.path,
                log=str(child.log),
                stop_signal=child.program.stop_signal,
            )
            for child, restarts in self._children
        )

    def stop(self) -> None:
        """Stop everything in reverse order; services first, the broker last."""
        while self._children:
            child, _ = self._children[-1]
            self._tell(f"stopping {child.program.name}")
            child.stop()
            self._children.pop()

    def _run(self, program: Program) -> Child:
        child = Child(program, self.directory.log(program.name))
        child.start()
        self._children.append((child, Restarts()))
        return child

    def _start_broker(self, broker: Broker) -> str:
        if isinstance(broker, External):
            return broker.bootstrap
        program = broker_program(broker, self.directory, self._given)
        self._run(program)
        return program.endpoint

    def _start_postgres(self, secrets: Secrets) -> str:
        given = self._given.get("JOBLEDGER_POSTGRES")
        if given:
            if self.ephemeral:
                raise StackFault(
                    "Tansu forgets everything at its stop and JOBLEDGER_POSTGRES does not: "
                    "set JOBLEDGER_KAFKA as well, or unset JOBLEDGER_POSTGRES"
                )
            return given
        program = postgres.postgres_program(self.directory, secrets.postgres_password)
        self._run(program)
        return postgres.dsn(program.port, secrets.postgres_password)

    def _start_registry(self) -> str:
        given = self._given.get("JOBLEDGER_REGISTRY")
        if given:
            return given
        program = registry_program(self.directory)
        self._run(program)
        return program.endpoint

    def _start_clickhouse(self) -> str:
        """Return the URL of a database; empty where there is no ClickHouse, which only leaves its read model out."""
        given = self._given.get("JOBLEDGER_CLICKHOUSE")
        if given == NO_CLICKHOUSE:
            return ""
        if given:
            if self.ephemeral:
                raise StackFault(
                    "Tansu forgets everything at its stop and JOBLEDGER_CLICKHOUSE does not: "
                    "set JOBLEDGER_KAFKA as well, or unset JOBLEDGER_CLICKHOUSE"
                )
            return given
        if not has_engine():
            self._tell(NONE)
            return ""
        program = clickhouse_program(self.directory)
        self._run(program)
        return f"{program.endpoint}/{DATABASE}"

    def _forget(self) -> None:
        """Drop what was derived from a log that is gone."""
        for derived in (self.directory.postgres, self.directory.clickhouse, self.directory.blobs):
            shutil.rmtree(derived, ignore_errors=True)
        self.directory.create()
