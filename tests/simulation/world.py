"""One simulated installation: broker, stores, outside, processes, and the bad weather they live in."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from random import Random

from services.ledger.policy import SECOND, Policy
from services.ledger.state import Ledger
from services.runtime.commander import Commander
from services.runtime.policy import policy_of
from services.runtime.settings import Settings
from services.runtime.topics import all_topics
from services.streams.app import Handle
from services.streams.watch import Taking
from tests.simulation import clickhouse, lake, site, stores
from tests.simulation.broker import Broker, Clock
from tests.simulation.chaos import Chaos, weather_of
from tests.simulation.clients import Clients
from tests.simulation.cluster import Cluster, Say
from tests.simulation.endpoints import SPAN_SECONDS
from tests.simulation.hooks import Hooks
from tests.simulation.houses import CREDENTIALS_KEY, Houses
from tests.simulation.life import Life, current
from tests.simulation.loop import VirtualLoop
from tests.simulation.modules import Modules
from tests.simulation.posted import Posted
from tests.simulation.read_model import ReadModel
from tests.simulation.rough import Rough
from tests.simulation.schedules import Schedules
from tests.simulation.spiders import Spiders
from tests.simulation.streams import Group, StreamApp
from tests.simulation.traffic import MOST_ORGS, Traffic
from tests.simulation.vault import Vault

MOST_STEPS = 400_000
MODULE_RETENTION_SECONDS = 20  # behind the end of a job; each seed lives about as long
SEALED = 0.4  # of all orgs: they have erasure
HOUSED = 0.6  # of all orgs: they have a warehouse of their own
RETRIES = tuple(SECOND * each // 2 for each in (1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4))
START_MICROS = 1_800_000_000_000_000


class World:
    """Everything of one run."""

    def __init__(self, seed: int, say: Say) -> None:
        self.random = Random(seed)  # repeatable on purpose
        self.loop = VirtualLoop(self.random, MOST_STEPS)
        self.chaos = Chaos(self.random, weather_of(self.random))
        self.settings = settings_of(self.random)
        self.broker = Broker(self.loop, self.chaos, Clock(self.loop, START_MICROS))
        for topic in all_topics(self.settings):
            self.broker.create(topic.name, topic.partitions)
        self.boots: dict[str, Life] = {}  # runs of workers, by their boot ids
        self.rough = Rough(self.chaos, seed, self.boots)
        self.clients = Clients(self.broker, self.loop, self.rough)
        self.cluster = Cluster(self.loop, self.chaos, say)
        self.chaos.now = self.loop.time
        self.loop.fate = self.cluster.fate
        self.blobs = stores.Blobs(self.chaos)
        self.blobs.blobs |= site.documents()
        self.warehouse = stores.Warehouse(self.chaos)
        self.vault = Vault(
            self.chaos, {f"org-{number}" for number in range(MOST_ORGS) if self.random.random() < SEALED}
        )
        self.houses = Houses(
            self.chaos, [f"org-{number}" for number in range(MOST_ORGS) if self.random.random() < HOUSED]
        )
        self.hooks = Hooks(self.chaos, self.warehouse)
        self.model = ReadModel(self.vault, self.hooks)
        self.lake = lake.Lake(self.chaos, self.rough)
        self.house = clickhouse.ClickHouse(self.chaos)
        self.site = site.Site(self.chaos)
        self.posted = Posted(self.hooks, self.model, self.chaos, self.settings.webhook_calls)
        self.schedules = Schedules(self.chaos, self.vault, self.houses, self.settings.partitions, START_MICROS)
        self.traffic = Traffic(self.settings, self.broker, self.chaos, self.vault, self.schedules, self.houses)
        self.modules = Modules(seed, self.blobs, self.vault, self.traffic.accepted, self.traffic.deleted)
        self.traffic.modules = self.modules
        housed, traffic = [*self.houses.tables], self.traffic
        self.spiders = Spiders(seed, self.blobs, self.vault, housed, traffic.accepted, traffic.deleted)
        traffic.spiders = self.spiders
        # What runs of deciders have in memory: run, partition, since when (seconds), state.
        self.memories: list[tuple[Life, int, float, Ledger]] = []
        self.restored: Callable[[Ledger], None] = lambda _ledger: None  # hears of each state that was read back
        self.events_between_snapshots = self.random.choice((8, 25, 80))
        self._groups: dict[str, Group] = {}

    def commander(self, settings: Settings, name: str) -> Commander:
        """Make the commander of a worker."""
        made = Commander(settings, name)
        self.boots[made.boot_id] = current()
        return made

    def stream(self, topic: str, handle: Handle, fault: "asyncio.Future[None]", taking: Taking) -> StreamApp:
        """Make a member of the group that consumes a topic."""
        group = self.group(topic)
        return StreamApp(self.broker, group, topic, handle, fault, taking, self.chaos)

    def group(self, topic: str) -> Group:
        """Return the group of a topic."""
        if topic not in self._groups:
            self._groups[topic] = Group(self.broker, topic, self.loop)
        return self._groups[topic]


def policy(settings: Settings) -> Policy:
    """Return the limits of the rules."""
    return replace(
        policy_of(settings),
        delivery_schedule=RETRIES,
        webhook_schedule=RETRIES,
        resend_window=2,
        endpoint_span=int(SPAN_SECONDS * SECOND),
        delivery_resend_cap=12 * SECOND,
        hold_lifetime=6 * SECOND,
    )


def settings_of(random: Random) -> Settings:
    """Return settings with short times."""
    return Settings(
        kafka="simulated",
        postgres="simulated",
        registry="http://simulated",
        blobs="memory:///",
        clickhouse="http://simulated",
        credentials_key=CREDENTIALS_KEY,
        topic_prefix="s",
        partitions=random.choice((1, 2, 3)),
        task_spread=random.choice((1, 1, 2)),
        instances=1,
        worker_slots=random.choice((1, 2, 4)),
        heartbeat_seconds=1.0,
        lease_seconds=4.0,
        dispatch_resend_seconds=3.0,
        delivery_resend_seconds=3.0,
        reply_timeout_seconds=3.0,
        schedule_grace_seconds=3.0,
        schedule_catch_up=2,
        schedule_poll_seconds=0.5,
        ended_kept=random.choice((1, 20_000)),
        ended_kept_seconds=2.0,
        fallback_surcharge=random.choice((0, 1, 1, 3)),
        retention_seconds=random.choice((0, 1, 4, 4)),
        retention_poll_seconds=1.0,
        webhook_calls=random.choice((1, 2, 8)),
        webhook_timeout_seconds=4.0,
        module_retention_seconds=MODULE_RETENTION_SECONDS,
    )
