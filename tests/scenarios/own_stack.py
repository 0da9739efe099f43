"""A stack that a test may stop: its broker stands still, or it has a ledger and a database of its own."""

import importlib
import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from services.localstack.services import MIGRATIONS
from services.localstack.stack import Stack


@contextmanager
def away(stack: Stack) -> Iterator[None]:
    """Let the broker stand still for the time."""
    [pid] = [each.identity.pid for each in stack.processes() if each.name == "broker" and each.identity]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def made_ready(own: Stack) -> dict[str, str]:
    """Return the settings of a ledger of its own on a stack, with a database of its own."""
    name, server = f"test_{uuid.uuid4().hex}", own.environ["JOBLEDGER_POSTGRES"].rpartition("/")[0]
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    for module in MIGRATIONS:
        importlib.import_module(module).migrate(f"{server}/{name}")
    return own.environ | {"JOBLEDGER_POSTGRES": f"{server}/{name}", "JOBLEDGER_TOPIC_PREFIX": f"test-{name[-12:]}"}
