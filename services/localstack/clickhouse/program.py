"""How the local stack runs ClickHouse, where the embedded engine can be had."""

import importlib.util
import sys
from functools import partial

from services.localstack.places import StackDir
from services.localstack.ports import LOOPBACK, port_for
from services.localstack.program import Program, http_answers

NONE = "clickhouse: none, chdb-core is not installed (pip install 'jobledger[local]', or set JOBLEDGER_CLICKHOUSE)"


def has_engine() -> bool:
    """Say whether the embedded engine is installed, without loading it."""
    return importlib.util.find_spec("chdb") is not None


def clickhouse_program(directory: StackDir) -> Program:
    """Return what to run."""
    port = port_for(directory.ports, "clickhouse")
    module = ("-P", "-m", "services.localstack.clickhouse")
    return Program(
        name="clickhouse",
        argv=(sys.executable, *module, "--port", str(port), "--path", str(directory.clickhouse)),
        ready=partial(http_answers, port, "/ping"),
        port=port,
        endpoint=f"http://{LOOPBACK}:{port}",
        path="/ping",
    )
