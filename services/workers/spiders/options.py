"""Options of one run of a Scrapy project, as whoever asks for it gives them and as its worker reads them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from schemas.storable import is_storable
from services.ledger.provider_settings import COUNTRY

Routing = Literal["off", "marked", "all"]
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]

MEMORY_MB = (64, 65_536)  # at least and at most; a spider that does nothing takes about 60
CPUS = (0.1, 64.0)
TIMEOUT_SECONDS = (1, 7 * 24 * 3600)
PRIORITY = (-1_000, 1_000)
MOST_SPIDERS = 100
MOST_ENTRIES = 200  # of arguments, of settings and of variables
NAME_CHARS = 200
VALUE_CHARS = 64 * 1024  # a variable of an environment holds twice that on every system
SETTING = re.compile(r"[A-Z][A-Z0-9_]*")
ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Variables that say what the process runs before any code of the project does, or that are ours.
RESERVED = re.compile(
    r"(?i)LD_.*|PYTHON.*|JOBLEDGER_.*|SCRAPY_SETTINGS_MODULE|GLIBC_TUNABLES|GCONV_PATH|PATH|HOME|TMPDIR|TMP|TEMP"
)


class RunOptions(Struct, forbid_unknown_fields=True, kw_only=True):
    """What is run, and how."""

    project: str
    spiders: list[str]
    deploy_version: int
    spider_args: dict[str, str] = {}  # as `-a name=value`, for every spider of the run
    settings: dict[str, Any] = {}  # over those of the project
    env: dict[str, str] = {}
    grouped: bool = False  # several spiders in one process, which share a reactor
    unblock: Routing = "off"
    proxy_country: str = ""  # two letters, for what is routed; empty: wherever
    isolate_pipelines: bool = True  # the project's ITEM_PIPELINES are off
    memory_mb: int = 512  # of the process and all that it starts
    cpus: float = 1.0
    timeout_seconds: int = 24 * 3600
    log_level: LogLevel = "INFO"
    priority: int = 100  # higher goes first within the org


def faults(options: RunOptions) -> list[str]:
    """Return what is wrong with options that have their types, each with the name of its field."""
    return list(_faults(options))


def _faults(options: RunOptions) -> Iterator[str]:
    if not options.project:
        yield "project: name one"
    yield from _spiders(options)
    if options.deploy_version < 1:
        yield "deploy_version: counts from 1"
    if options.proxy_country and not COUNTRY.fullmatch(options.proxy_country):
        yield "proxy_country: give a country's two letters, such as DE, or leave it out"
    yield from _within("memory_mb", options.memory_mb, MEMORY_MB)
    yield from _within("cpus", options.cpus, CPUS)
    yield from _within("timeout_seconds", options.timeout_seconds, TIMEOUT_SECONDS)
    yield from _within("priority", options.priority, PRIORITY)
    yield from _named("spider_args", options.spider_args, ARGUMENT)
    yield from _named("settings", options.settings, SETTING)
    yield from _named("env", options.env, VARIABLE)
    for name in options.env:
        if RESERVED.fullmatch(name):
            yield f"env: {name!r} is set by the runner: leave it out"


def _spiders(options: RunOptions) -> Iterator[str]:
    if not options.spiders:
        yield "spiders: name at least one"
    if len(options.spiders) > MOST_SPIDERS:
        yield f"spiders: {len(options.spiders)} are more than the {MOST_SPIDERS} that one run takes"
    if len(set(options.spiders)) < len(options.spiders):
        yield "spiders: name each once"
    if any(not name or len(name) > NAME_CHARS or not is_storable(name) for name in options.spiders):
        yield f"spiders: a name has 1 to {NAME_CHARS} characters and no NUL"
    if len(options.spiders) > 1 and not options.grouped:
        yield "grouped: several spiders in one run share a process: say true, or submit a job for each"


def _named(field: str, given: Mapping[str, Any], allowed: re.Pattern[str]) -> Iterator[str]:
    if len(given) > MOST_ENTRIES:
        yield f"{field}: {len(given)} entries are more than {MOST_ENTRIES}"
    for name, value in given.items():
        if len(name) > NAME_CHARS or not allowed.fullmatch(name):
            yield f"{field}: {name[:NAME_CHARS]!r} is no name of one"
        elif isinstance(value, str) and (len(value) > VALUE_CHARS or not is_storable(value)):
            yield f"{field}: the value of {name!r} has more than {VALUE_CHARS} characters, or a NUL"


def _within(field: str, value: float, bounds: tuple[float, float]) -> Iterator[str]:
    least, most = bounds
    if not least <= value <= most:
        yield f"{field}: {value:g} is not from {least:g} to {most:g}"
