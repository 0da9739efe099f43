"""What webhooks have in Postgres: endpoints as their owners configure them, and the log of attempts."""

import asyncio
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Literal, TypeVar, get_args

from projections.postgres import endpoints as disabling
from services.runtime.kept_secrets import Owner, sealed_for
from services.runtime.sealing import Sealer
from services.writers.webhook import attempts, endpoints
from services.writers.webhook.endpoints import Name
from services.writers.webhook.signing import PREFIX, SECRET_BYTES
from tests.simulation.chaos import Chaos
from tests.simulation.houses import CREDENTIALS_KEY
from tests.simulation.stores import Warehouse

DYING = 0.12  # of all endpoints take next to nothing
MENDED = 0.4  # how often a disabled endpoint is found enabled again
CHANGED = 0.06  # how often a look finds that the owner has changed something
TROUBLED = 0.3  # how often an endpoint is no good, as long as there is any trouble left
CHANGES = ("moved",) * 3 + ("rotated",) * 3 + ("disabled", "deleted")
Trouble = Literal[
    "away",  # nobody is there
    "gone",  # it wants nothing any more
    "refuses",
    "throttles",  # it asks for time
    "throttles_again",
    "hangs",  # it says nothing, and takes the message later, or never
    "breaks_off",  # it takes the message, and says nothing
    "answers_in_part",  # behind its status nothing comes any more
]
T = TypeVar("T")
PRUNED = frozenset({attempts.SQL["prune_old"], attempts.SQL["prune_many"], attempts.SQL["prune_throttles"]})


@dataclass(slots=True)
class Hook:
    """An endpoint as it is configured; its receiver holds the oldest of its secrets, the first one."""

    name: Name
    secrets: list[str]
    rows: list[bytes]  # the secrets as they stand in their table, the newest first: sealed or in clear
    dying: bool
    version: int = 1
    enabled: bool = True
    deleted: bool = False

    @property
    def url(self) -> str:
        """Where it is: who calls it says with which version it reckons."""
        return f"http://{self.name[0]}.example/{self.name[1]}/{self.version}"


@dataclass(slots=True)
class Hooks:
    """The endpoints of all orgs, and what is written down of the calls to them."""

    chaos: Chaos
    warehouse: Warehouse  # which knows what was erased, in the same Postgres
    rows: dict[Name, Hook] = field(default_factory=dict)
    over: dict[tuple[Name, int], float] = field(default_factory=dict)  # since when a version is not to be called, s
    throttled: dict[Name, datetime] = field(default_factory=dict)
    _left: int = field(init=False)  # troubles of this seed, also when the storm is over

    def __post_init__(self) -> None:
        self._left = self.chaos.random.choice((0, 6, 25))

    def trouble(self) -> Trouble | None:
        """Draw what is wrong with an endpoint that is called."""
        return self._drawn(TROUBLED, get_args(Trouble))

    def _drawn(self, chance: float, kinds: Sequence[T]) -> T | None:
        if self._left <= 0 or self.chaos.random.random() >= chance:
            return None
        self._left -= 1
        return self.chaos.random.choice(kinds)

    def does(self, statement: Any, values: Mapping[str, Any]) -> Sequence[Any]:
        """Do what a statement of the writer says."""
        if statement == endpoints.SQL["endpoint"]:
            return self._found(self._looked_at((values["org_id"], values["webhook_id"])))
        if statement == attempts.SQL["save"]:
            return self._save(values)
        if statement == attempts.SQL["throttle"]:
            for org_id, webhook_id, until in zip(values["org_id"], values["webhook_id"], values["until"], strict=True):
                name = org_id, webhook_id
                self.throttled[name] = max(until, self.throttled.get(name, until))
            return []
        assert statement in {attempts.SQL["share"], *PRUNED}, f"the stand-in does not know {statement}"
        return []

    def execute(self, statement: Any, values: Mapping[str, Any] | None = None) -> Any:
        """Do as the session of the projection does with `projections.postgres.endpoints`, in its transaction."""
        if statement == disabling.SQL["configured"]:
            return SimpleNamespace(fetchone=lambda: ("config.webhooks",))
        assert values
        assert statement == disabling.SQL["disable"]
        hook = self.rows.get((values["org_id"], values["webhook_id"]))
        if hook and hook.enabled and hook.version == values["version"]:
            self._change(hook, enabled=False)
        return None

    def secrets(self) -> Iterator[str]:
        """Yield every secret, as its receiver has it and as it is in it."""
        for hook in self.rows.values():
            for secret in hook.secrets:
                yield from (secret, secret.removeprefix(PREFIX))

    def _looked_at(self, name: Name) -> Hook:
        """Return an endpoint once its owner has done with it what comes to his mind."""
        hook = self.rows.get(name) or self._made(name)
        if hook.deleted:
            return hook
        if not hook.enabled:
            if self._drawn(MENDED, ("enabled",)):
                self._change(hook, anew=True)
            return hook
        match self._drawn(CHANGED, CHANGES):
            case "moved":
                self._change(hook, anew=True)
            case "disabled":
                self._change(hook, enabled=False)
            case "rotated" if len(hook.secrets) == 1:
                self._rotate(hook)
            case "deleted":
                self._change(hook, deleted=True)
        return hook

    def _change(self, hook: Hook, *, enabled: bool = True, anew: bool = False, deleted: bool = False) -> None:
        self.over.setdefault((hook.name, hook.version), asyncio.get_running_loop().time())
        hook.enabled, hook.deleted = enabled, deleted
        hook.version += anew

    def _rotate(self, hook: Hook) -> None:
        """Give a new secret, sealed; the one of before stands behind it for a day."""
        secret = self._secret()
        sealed, _ = sealed_for(Sealer(CREDENTIALS_KEY), Owner("webhook", *hook.name), {"secret": secret})
        hook.secrets.insert(0, secret)
        hook.rows.insert(0, sealed)

    def _made(self, name: Name) -> Hook:
        secret = self._secret()
        hook = Hook(name, [secret], [secret.encode()], dying=self.chaos.random.random() < DYING)
        self.rows[name] = hook
        return hook

    def _secret(self) -> str:
        return PREFIX + b64encode(self.chaos.random.randbytes(SECRET_BYTES)).decode()

    @staticmethod
    def _found(hook: Hook) -> list[Any]:
        if hook.deleted:
            return []
        return [SimpleNamespace(url=hook.url, enabled=hook.enabled, secrets=list(hook.rows), version=hook.version)]

    def _save(self, values: Mapping[str, Any]) -> list[Any]:
        """Keep attempts, but for those of jobs that are erased."""
        rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
        kept = [row for row in rows if not self._erased((row["org_id"], row["job_id"]))]
        self.warehouse.attempts += kept
        return kept

    def _erased(self, job: tuple[str, str]) -> bool:
        row = self.warehouse.rows.get(job)
        return row is not None and row.erased
