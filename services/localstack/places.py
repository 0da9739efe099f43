"""Where the local stack keeps its things: one directory per stack, one cache per user."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_DIRECTORY = ".jobledger"
PRIVATE = 0o700


@dataclass(frozen=True, slots=True)
class StackDir:
    """One stack's directory; everything that a stack writes is below it."""

    root: Path

    def create(self) -> None:
        """Make the directories, readable by their owner alone."""
        for directory in (self.root, self.logs, self.kafka, self.blobs):
            directory.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        self.root.chmod(PRIVATE)

    @property
    def state(self) -> Path:
        """What runs now; absent when nothing does."""
        return self.root / "state.json"

    @property
    def secrets(self) -> Path:
        """Operator key and database password; mode 0600."""
        return self.root / "secrets.json"

    @property
    def ports(self) -> Path:
        """The ports that were chosen, by name."""
        return self.root / "ports.json"

    @property
    def lock(self) -> Path:
        """Held by the supervisor for as long as it lives."""
        return self.root / "lock"

    @property
    def logs(self) -> Path:
        """One log file per process."""
        return self.root / "logs"

    @property
    def kafka(self) -> Path:
        """Configuration and data of Apache Kafka."""
        return self.root / "kafka"

    @property
    def postgres(self) -> Path:
        """Data directory of Postgres."""
        return self.root / "postgres"

    @property
    def clickhouse(self) -> Path:
        """Data directory of ClickHouse."""
        return self.root / "clickhouse"

    @property
    def registry(self) -> Path:
        """The schema registry's log."""
        return self.root / "registry.jsonl"

    @property
    def blobs(self) -> Path:
        """The blob store."""
        return self.root / "blobs"

    def log(self, name: str) -> Path:
        """The log file of one process."""
        return self.logs / f"{name}.log"


def stack_directory(environ: Mapping[str, str]) -> StackDir:
    """The stack directory that the environment names, or the default below the current directory."""
    return StackDir(Path(environ.get("JOBLEDGER_STACK_DIR") or DEFAULT_DIRECTORY).absolute())


def cache_directory(environ: Mapping[str, str]) -> Path:
    """The user's cache, shared by every stack and every clone."""
    base = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or Path.home()) / ".cache"
    return Path(base) / "jobledger"
