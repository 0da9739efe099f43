"""What must hold of messages that are posted to endpoints: their bytes, when they may come, what was said to them.

Written from docs/webhooks.md. A bound counts from what the writer has read or heard; it may be on its way between that
and the call for as long as a call of a store takes in the weather of the seed, and it may have stood still.
"""

import asyncio
import hmac
import json
from base64 import b64decode, b64encode
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from schemas import events as e
from services.runtime.time import now_micros
from services.writers.webhook.endpoints import Name
from services.writers.webhook.signing import PREFIX
from tests.simulation.chaos import Chaos
from tests.simulation.hooks import Hook, Hooks
from tests.simulation.life import Life
from tests.simulation.places import HOOKS
from tests.simulation.read_model import ReadModel

MILLISECOND = 0.001  # the broker's clock tells no more
KNOWN_SECONDS = 1.0  # that a writer goes on with what it has read of an endpoint
OLDEST_SECONDS = 300  # of a timestamp, as receivers are told to refuse it
GONE = 410
KINDS = {"job.extracted": "", "job.completed": ":job.completed", "job.failed": ":job.failed"}  # in a destination's id


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One message on its way to an endpoint, and who sends it."""

    life: Life
    hook: Hook
    version: int  # that the writer reckons with
    message_id: str
    type: str
    job_id: str
    status: str
    signatures: str

    @property
    def place(self) -> tuple[str, str, str]:
        """Org, job and destination."""
        org_id, webhook_id = self.hook.name
        return org_id, self.job_id, webhook_id + KINDS[self.type]


@dataclass(slots=True)
class Posted:
    """The calls of all writers of webhooks."""

    hooks: Hooks
    model: ReadModel
    chaos: Chaos
    most: int  # calls at once that one writer may make to one endpoint
    wrong: list[str] = field(default_factory=list)
    _bodies: dict[tuple[Name, str], bytes] = field(default_factory=dict)
    _ids: dict[tuple[Name, str, str, str], str] = field(default_factory=dict)  # job, type and time -> webhook-id
    _said: defaultdict[tuple[str, str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    _asked: dict[tuple[str, str, int], float] = field(default_factory=dict)  # job, destination, generation
    _gone: dict[tuple[Life, Name, int], float] = field(default_factory=dict)  # which versions said so to whom, and when
    _paused: dict[tuple[Life, Name], tuple[float, float]] = field(default_factory=dict)  # from when to when
    _failed: set[tuple[Name, int]] = field(default_factory=set)
    _disabled: dict[Name, int] = field(default_factory=dict)  # by the ledger: the newest version
    _under_way: Counter[tuple[Life, Name]] = field(default_factory=Counter)

    def begin(self, life: Life, url: str, body: bytes, headers: Mapping[str, str]) -> Call:
        """Judge a call that begins."""
        host, webhook_id, version = url.removeprefix("http://").split("/")
        hook = self.hooks.rows[host.removesuffix(".example"), webhook_id]
        said = json.loads(body)
        message_id, kind, job_id = headers["webhook-id"], said["type"], said["data"]["jobId"]
        call = Call(
            life, hook, int(version), message_id, kind, job_id, said["data"]["status"], headers["webhook-signature"]
        )
        if self._bodies.setdefault((hook.name, message_id), body) != body:
            self._complain(call, "its bytes are others than those of an earlier try")
        if self._ids.setdefault((hook.name, job_id, kind, said["timestamp"]), message_id) != message_id:
            self._complain(call, "one event has two ids")
        if not _signed(hook.secrets[-1], headers, body):
            self._complain(call, "its signature is not by the secret that the receiver holds")
        self._under_way[life, hook.name] += 1
        if self._under_way[life, hook.name] > self.most:
            self._complain(call, f"more than {self.most} calls at once")
        self._in_time(call)
        return call

    def _in_time(self, call: Call) -> None:
        now, longest, name = _now(), self.chaos.longest_call() + MILLISECOND, call.hook.name
        over = self.hooks.over.get((name, call.version), now)
        if now > over + KNOWN_SECONDS + 2 * longest and _awake(call.life, over, now):
            self._complain(call, f"version {call.version} was not to be called since {over} s")
        gone = self._gone.get((call.life, name, call.version), now)
        if over >= now > gone + longest and _awake(call.life, gone, now):  # afterwards the configuration says it
            self._complain(call, f"version {call.version} said 410 at {gone} s")
        since, until = self._paused.get((call.life, name), (now, now))
        if since + 4 * longest < now < until and _awake(call.life, since, now):
            self._complain(call, f"at {since} s it asked for a pause until {until} s")

    def take(self, call: Call) -> None:
        """The receiver has a message; inside its handler it reads the job of a notice."""
        key = call.place[:2]
        row = self.model.deleted.get(key) or self.model.jobs.get(key)
        if call.type != "job.extracted" and (row is None or row.status != call.status):
            self._complain(call, f"a notice of what cannot be read: the job is {row and row.status}")

    def said(self, call: Call) -> None:
        """The receiver has said 2xx."""
        self._said[call.place].append(_now())

    def end(self, call: Call, status: int = 0, pause_seconds: float | None = None) -> None:
        """A call is over for the writer, who has heard this."""
        name = call.hook.name
        self._under_way[call.life, name] -= 1
        if not 200 <= status < 300:
            self._failed.add((name, call.version))
        if status == GONE:
            self._gone.setdefault((call.life, name, call.version), _now())
        if pause_seconds is not None:
            _, until = self._paused.get((call.life, name), (0.0, 0.0))
            if _now() + pause_seconds > until:
                self._paused[call.life, name] = _now(), _now() + pause_seconds

    def see(self, event: e.AnyEvent, at: float) -> Iterator[str]:
        """Go on by an event at a time in seconds; yield what is wrong with it."""
        if isinstance(event, e.EndpointDisabled):
            name = event.org_id, event.webhook_id
            self._disabled[name] = event.endpoint_version
            gone = any((who, version) == (name, event.endpoint_version) for _, who, version in self._gone)
            if not (gone if event.reason == "gone" else (name, event.endpoint_version) in self._failed):
                yield f"{name} is disabled as version {event.endpoint_version}, which is not {event.reason}"
        if not isinstance(event, e.DeliveryEvent) or event.destination_id.partition(":")[0] not in HOOKS:
            return
        key = event.job_id, event.destination_id, event.generation
        if isinstance(event, e.DeliveryRequested):
            self._asked.setdefault(key, at)
        if isinstance(event, e.DeliveryAcked):
            said = self._said[event.org_id, event.job_id, event.destination_id]
            if not any(self._asked[key] - MILLISECOND <= each <= at + MILLISECOND for each in said):
                yield f"{key} was acknowledged at {at} s, asked for since {self._asked[key]} s, 2xx was said at {said}"

    def verdict(self) -> Iterator[str]:
        """Yield what is wrong at the end."""
        yield from self.wrong
        for name, version in self._disabled.items():
            hook = self.hooks.rows[name]
            if hook.enabled and hook.version <= version:
                yield f"the ledger has disabled version {version} of {name}, which is {hook}"
        secrets = list(self.hooks.secrets())
        for each in self.hooks.warehouse.attempts:
            name, message_id = (each["org_id"], each["webhook_id"]), each["message_id"]
            if (name, message_id) not in self._bodies:
                yield f"an attempt is written down that nobody made: {each}"
            if any(secret in each["answer"] for secret in secrets) or "v1," in each["answer"]:
                yield f"a secret is written down with an attempt: {each}"

    def _complain(self, call: Call, what: str) -> None:
        self.wrong.append(f"{call.life} posts {call.message_id} to {call.hook.name} at {_now():.3f} s: {what}")


def _signed(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    at = headers["webhook-timestamp"]
    signed = b"%b.%b.%b" % (headers["webhook-id"].encode(), at.encode(), body)
    ours = b64encode(hmac.digest(b64decode(secret.removeprefix(PREFIX)), signed, "sha256")).decode()
    fresh = abs(now_micros() // 1_000_000 - int(at)) <= OLDEST_SECONDS
    return fresh and f"v1,{ours}" in headers["webhook-signature"].split(" ")


def _awake(life: Life, since: float, now: float) -> bool:
    """Whether a process stood still at no time in between, and was not told to leave."""
    return not any(begin < now and since < end for begin, end in life.pauses)


def _now() -> float:
    return asyncio.get_running_loop().time()
