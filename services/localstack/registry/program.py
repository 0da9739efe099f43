"""How the local stack runs the registry."""

import sys
from functools import partial

from services.localstack.places import StackDir
from services.localstack.ports import LOOPBACK, port_for
from services.localstack.program import Program, http_answers


def registry_program(directory: StackDir) -> Program:
    """Return what to run."""
    port = port_for(directory.ports, "registry")
    module = ("-P", "-m", "services.localstack.registry")
    return Program(
        name="registry",
        argv=(sys.executable, *module, "--port", str(port), "--file", str(directory.registry)),
        ready=partial(http_answers, port, "/subjects"),
        port=port,
        endpoint=f"http://{LOOPBACK}:{port}",
        path="/subjects",
    )
