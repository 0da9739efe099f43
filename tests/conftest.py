"""The stack that every integration test shares: one broker, one Postgres, one registry; names and databases are fresh.

A test asks for `settings` (a fresh topic prefix and a fresh database with every migration applied) or for `ledger` (the
same with its topics created). Tests marked `kafka` are skipped with a reason where the broker is Tansu.
"""

import importlib
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import sql

from services.localstack.broker_tansu import Tansu
from services.localstack.places import StackDir
from services.localstack.services import MIGRATIONS
from services.localstack.stack import Stack
from services.runtime.settings import Settings, settings_from

ON_SERVERS = {"acceptance", "conformance", "contract", "integration", "scenarios", "unit"}  # or on sockets of their own
TOGETHER = ("/visible", "/views")  # folders of one stack or history: one process runs them whole, of others a file
MOST_AGAIN = 3  # tests a run that may need a second try; more is no accident
TEST_PARTITIONS = 4  # enough to see placement, few enough to create in no time
BROKER_LINE = pytest.StashKey[str]()
AGAIN: list[pytest.TestReport] = []  # of the tests that failed at their first try, in order


@dataclass(frozen=True, slots=True)
class Databases:
    """Makes databases as copies of one that has every migration applied."""

    server: str  # connection URL without the database
    template: str

    def fresh(self) -> str:
        """Create a database and return its connection URL."""
        name = f"test_{uuid.uuid4().hex}"
        self._execute("CREATE DATABASE {} TEMPLATE {}", name, self.template)
        return f"{self.server}/{name}"

    def drop(self, url: str) -> None:
        """Drop a database, whoever is still connected to it."""
        self._execute("DROP DATABASE {} WITH (FORCE)", url.rpartition("/")[2])

    def _execute(self, statement: str, *names: str) -> None:
        with psycopg.connect(f"{self.server}/postgres", autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Stack]:
    """Broker, Postgres and registry of this test session."""
    stack = Stack(StackDir(tmp_path_factory.mktemp("stack")), os.environ)
    try:
        stack.start()
        pytestconfig.stash[BROKER_LINE] = f"broker: {stack.broker}"
        yield stack
    finally:
        stack.stop()


@pytest.fixture(scope="session")
def databases(stack: Stack) -> Iterator[Databases]:
    """The factory of databases; its template carries every package's migrations."""
    server = stack.environ["JOBLEDGER_POSTGRES"].rpartition("/")[0]
    template = f"template_{uuid.uuid4().hex}"
    factory = Databases(server, template)
    factory._execute("CREATE DATABASE {}", template)
    for module in MIGRATIONS:
        importlib.import_module(module).migrate(f"{server}/{template}")
    yield factory
    factory.drop(f"{server}/{template}")


@contextmanager
def making_settings(stack: Stack, databases: Databases) -> Iterator[Callable[[], Settings]]:
    """Make settings, each with a topic prefix and a database that nobody else uses; in the end drop the databases."""
    made: list[Settings] = []

    def make() -> Settings:
        fresh = {
            "JOBLEDGER_TOPIC_PREFIX": f"test-{uuid.uuid4().hex[:12]}",
            "JOBLEDGER_POSTGRES": databases.fresh(),
            "JOBLEDGER_BLOBS": f"{stack.environ['JOBLEDGER_BLOBS']}/{uuid.uuid4().hex}",
            "JOBLEDGER_PARTITIONS": str(TEST_PARTITIONS),
        }
        if clickhouse := stack.environ["JOBLEDGER_CLICKHOUSE"]:
            fresh["JOBLEDGER_CLICKHOUSE"] = f"{clickhouse.rpartition('/')[0]}/test_{uuid.uuid4().hex}"
        made.append(settings_from({**stack.environ, **fresh}))
        return made[-1]

    yield make
    for settings in made:
        databases.drop(settings.postgres)


@pytest.fixture
def new_settings(stack: Stack, databases: Databases) -> Iterator[Callable[[], Settings]]:
    """Make settings for one test."""
    with making_settings(stack, databases) as make:
        yield make


@pytest.fixture
def settings(new_settings: Callable[[], Settings]) -> Settings:
    """Settings of the shared stack with a fresh topic prefix, blob prefix and database; no topics yet."""
    return new_settings()


@pytest.fixture
def ledger(settings: Settings) -> Settings:
    """The same settings with every topic of the ledger created."""
    from services.runtime.admin import ensure_topics

    ensure_topics(settings)
    return settings


@pytest.fixture(autouse=True)
def _real_kafka_where_marked(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("kafka"):
        broker = request.getfixturevalue("stack").broker
        if isinstance(broker, Tansu):
            pytest.skip(f"needs Apache Kafka's aborts, fencing or restart; the broker is {broker}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the stack, so that `-m "not stack"` runs without one; try again what is on servers (ADR 7)."""
    for item in items:
        if ON_SERVERS & set(item.path.parts):
            item.add_marker(pytest.mark.flaky(reruns=1))
        folder = str(item.path.parent)
        item.add_marker(pytest.mark.xdist_group(folder if folder.endswith(TOGETHER) else str(item.path)))
        if "stack" in getattr(item, "fixturenames", ()) or item.get_closest_marker("kafka"):
            item.add_marker("stack")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what failed at its first try."""
    if str(report.outcome) == "rerun":  # the plugin's own
        AGAIN.append(report)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which more tests than accident explains needed a second try; tell the first process our broker."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None:
        told["broker"] = session.config.stash.get(BROKER_LINE, "")
    elif len(AGAIN) > MOST_AGAIN and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(tryfirst=True)
def pytest_report_to_serializable(report: pytest.TestReport) -> None:
    """Put in order what a test has printed, before it goes to the first process: that takes no lone surrogates."""
    report.sections = [(name, text.encode("utf-8", "replace").decode()) for name, text in report.sections]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear from a process of tests which broker it had."""
    if line := getattr(node, "workeroutput", {}).get("broker"):
        node.config.stash[BROKER_LINE] = line


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say which broker the tests ran on, and why; and which tests failed at their first try, and how."""
    for report in AGAIN:
        terminalreporter.write_sep("_", f"failed at its first try: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
    if len(AGAIN) > MOST_AGAIN:
        terminalreporter.write_line(f"{len(AGAIN)} tests were tried again; more than {MOST_AGAIN} fail a run", red=True)
    line = config.stash.get(BROKER_LINE, "")
    if line:
        terminalreporter.write_line(line)
