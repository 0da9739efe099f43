"""What a module is: a plan of items, and a generator of what came of each. Whoever writes one imports from here."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct

from services.workers.providers.protocol import FetchResult

Level = Literal["debug", "info", "warn", "error"]
Read = TypeVar("Read")


class ModuleFailed(Exception):
    """The job cannot go on, and why, in words for whoever asked for it; what is recorded of it stays."""


class TooHard(Exception):
    """A page was not read in time: its item has failed, and others go on."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a module declares of itself."""

    max_items: int = 100_000  # that a job may plan


@dataclass(frozen=True, slots=True)
class Item:
    """One planned item: its ordinal, and what the plan says of it; members `query` and `zone` are counted by."""

    number: int
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one planned item: results or an error, never both."""

    number: int
    rows: Sequence[Mapping[str, Any]] = ()
    error: str = ""  # a class, as of a provider's error; empty: it succeeded
    message: str = field(default="", repr=False)


class Tools(Protocol):
    """What a module works with. Everything that it fetches is checked as every call for a customer is."""

    async def fetch(self, url: str) -> FetchResult:
        """Fetch a page, trying again where that may help; never raises for what network or site did."""

    async def read(self, work: Callable[[], Read]) -> Read:
        """Run work that may take long on hard input, beside the others and for a limited time; raises TooHard."""

    async def read_apart(self, work: Callable[[Callable[[str], None]], Read]) -> Read:
        """Run picklable work where it can be ended, which tells what it is at; raises TooHard, which names that."""

    def log(self, level: Level, message: str) -> None:
        """Say something to whoever follows the job."""

    def items_of(self, job_id: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the results of another job of the same org; ModuleFailed where there are none to be had."""


class Module(Protocol):
    """A kind of job."""

    @property
    def name(self) -> str:
        """Its type."""

    @property
    def params(self) -> type[Struct]:
        """What it takes."""

    @property
    def limits(self) -> Limits:
        """What no job of it goes beyond."""

    @property
    def item_credits(self) -> int:
        """What an item costs that succeeds."""

    def faults(self, params: Any) -> list[str]:
        """Return what is wrong with params that have their types; said before the job is accepted."""

    def plan(self, params: Any, tools: Tools) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the planned items: once for a job and all that go on from it."""

    def run(self, params: Any, items: Sequence[Item], tools: Tools) -> AsyncGenerator[Outcome]:
        """Yield outcomes in the order of the items, which begin behind the last that is recorded.

        An item that is passed over was never started, and counts as an error.
        """
