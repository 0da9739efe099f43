"""A measure of the ledger at the work of the peers."""

from bench.peers import ours
from bench.peers.figures import Measure
from bench.peers.running import Plan
from bench.peers.work import Work
from bench.processes import cpu_ms, used
from bench.stack import BenchStack


async def measured_work(stack: BenchStack, work: Work, plan: Plan) -> Measure:
    """Run the closed loop over a started stack, and look at CPU time at its marks."""
    before: dict[str, float] = {}
    found: list[Measure] = []

    def mark(_word: str, figures: dict[str, float]) -> None:
        now = cpu_ms(stack.processes)
        if not figures:
            before.update(now)
            return
        jobs = figures["jobs"]
        costs = {name: round(cost / jobs, 4) for name, cost in used(before, now).items()}
        found.append(Measure(round(jobs / figures["seconds"], 1), costs))

    await ours.same_work(stack.settings, mark, work, plan)
    [measure] = found
    return measure
