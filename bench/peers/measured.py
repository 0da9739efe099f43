"""A measure of the ledger at the work of the peers."""

from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor

from bench.operations import operations, per_job
from bench.peers import ours
from bench.peers.figures import Measure
from bench.peers.running import Plan
from bench.peers.work import Work
from bench.processes import cpu_ms, used
from bench.stack import BenchStack


async def measured_work(stack: BenchStack, work: Work, plan: Plan) -> Measure:
    """Run the closed loop over a started stack; look at its marks at CPU time, and beside the loop at what was done."""
    before: dict[str, float] = {}
    found: list[tuple[float, int, dict[str, float]]] = []
    looks: list[Future[Counter[str]]] = []
    with ThreadPoolExecutor(1) as beside:

        def mark(_word: str, figures: dict[str, float]) -> None:
            now = cpu_ms(stack.processes)
            looks.append(beside.submit(operations, stack.settings, stack.endpoints))
            if not figures:
                before.update(now)
                return
            jobs = int(figures["jobs"])
            costs = {name: round(cost / jobs, 4) for name, cost in used(before, now).items()}
            found.append((round(jobs / figures["seconds"], 1), jobs, costs))

        await ours.same_work(stack.settings, mark, work, plan)
    [(rate, jobs, costs)] = found
    first, last = (look.result() for look in looks)
    return Measure(rate, costs, per_job(first, last, jobs))
