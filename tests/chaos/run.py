"""One run: start everything, let customers work while things break, wait until it is quiet, judge."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from services.cli.client import Client
from services.localstack.places import StackDir
from services.localstack.ports import LOOPBACK, known_ports
from services.localstack.secret_file import Secrets, read_secrets
from tests.chaos.cluster import Cluster, tended
from tests.chaos.examine import examine, projected
from tests.chaos.faults import Breaker, Fault, schedule
from tests.chaos.ledger import Ledger
from tests.chaos.receiver import Receiver, receiving
from tests.chaos.report import Report, report_of
from tests.chaos.site import serving
from tests.chaos.traffic import ORGS, PATIENCE_SECONDS, Customer, Told, register
from tests.chaos.verdict import Verdict

# That everything has to come to rest within after the last fault: the fourth try of a delivery waits for 5 minutes.
QUIET_SECONDS = 600.0
LOOK_SECONDS = 2.0
Tell = Callable[[str], None]


@dataclass(slots=True)
class Run:
    """One run, and what has come of it so far."""

    seed: int
    minutes: float
    directory: Path
    tell: Tell
    verdict: Verdict = field(default_factory=Verdict)
    told: Told = field(default_factory=Told)
    seconds: dict[str, float] = field(default_factory=dict)

    async def run(self) -> Report:
        """Return what came of it."""
        planned = schedule(self.seed, 60 * self.minutes)
        for fault in planned:
            self.tell(f"planned: {fault}")
        cluster = Cluster(StackDir(self.directory), os.environ, self.tell)
        breaker = Breaker(cluster, self.tell)
        try:
            with self._timed("start"):
                await asyncio.to_thread(cluster.launch)
            ledger = Ledger.of(cluster.settings)
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(tended(cluster))
                receiver = await stack.enter_async_context(receiving(self.seed))
                customers = await self._customers(stack, cluster, receiver)
                with self._timed("storm"):
                    await self._storm(customers, breaker, planned)
                with self._timed("quiet"):
                    await asyncio.gather(*(customer.hurry() for customer in customers))
                    await self._quiet(cluster, ledger)
                with self._timed("verdict"):
                    clients = {customer.org_id: customer.client for customer in customers}
                    key = _secrets(cluster).signing_key
                    await examine(self.verdict, ledger, self.told, receiver, clients, key)
            restarts = {each.name: each.restarts for each in cluster.processes()}
        finally:
            await asyncio.to_thread(cluster.stop)
        return report_of(self.verdict, self.told, ledger, receiver, breaker, restarts, self.seconds)

    async def _customers(self, stack: AsyncExitStack, cluster: Cluster, receiver: Receiver) -> list[Customer]:
        site = await stack.enter_async_context(serving(self.seed))
        api = f"http://{LOOPBACK}:{known_ports(cluster.directory.ports)['api']}"
        operator = Client(api, _secrets(cluster).operator_key, PATIENCE_SECONDS)
        await stack.enter_async_context(operator)
        customers = []
        for org_id, (cap, pause_seconds) in ORGS.items():
            client = await stack.enter_async_context(await register(operator, org_id, receiver.url))
            random = Random(f"traffic {self.seed} {org_id}")
            customers.append(Customer(org_id, cap, pause_seconds, client, operator, site, random, self.told))
        return customers

    async def _storm(self, customers: Sequence[Customer], breaker: Breaker, planned: Sequence[Fault]) -> None:
        until = time.monotonic() + 60 * self.minutes
        async with asyncio.TaskGroup() as group:
            group.create_task(breaker.run(planned))
            for customer in customers:
                group.create_task(customer.run(until, until + QUIET_SECONDS))

    async def _quiet(self, cluster: Cluster, ledger: Ledger) -> None:
        """Wait until every job has ended and is delivered, and both read models have it; or until time is over."""
        deadline = time.monotonic() + QUIET_SECONDS
        ended: dict[int, int] = {}
        while time.monotonic() < deadline:
            await asyncio.to_thread(ledger.read_on)
            stories = ledger.stories
            open_jobs = sum(not job.terminal or bool(job.unsettled()) for job in stories.values())
            unseen = sum(job_id not in stories for job_id in self.told.accepted)
            self.tell(f"{len(stories)} jobs, {open_jobs} not settled, {unseen} accepted and not seen")
            if not open_jobs and not unseen:
                ended = ended or ledger.positions()
                if await asyncio.to_thread(projected, cluster.settings, ended):
                    return
            await asyncio.sleep(LOOK_SECONDS)
        self.verdict.lost.append(f"it did not come to rest within {QUIET_SECONDS:g} s")

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        self.tell(f"phase: {phase}")
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds[phase] = round(time.monotonic() - began, 1)


def _secrets(cluster: Cluster) -> Secrets:
    secrets = read_secrets(cluster.directory.secrets)
    assert secrets is not None  # the stack has started
    return secrets
