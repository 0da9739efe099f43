"""What writers cost above their drivers, and what consuming costs them: `python -m bench.warehouses`.

Each kind writes the same batches in turn in two ways, into a fresh table each round: by its writer (rows made of what
was extracted, its own exactness) and by the floor (its driver alone, with the same rows made before). CPU counts for
this process alone, on the event loop that services have; servers, real or played, are other processes. The ratio is the
median of those of the rounds; the first round warms up and is left out. Then deliveries are taken off their topic in
two ways.
"""

import argparse
import asyncio
import gc
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import uvloop

from bench.machine import machine_facts
from bench.warehouses.consuming import consuming_of
from bench.warehouses.figures import Figures, Kind, Measured, lines, with_figures
from bench.warehouses.opened import Servers, servers
from bench.warehouses.ways import WAYS, Way
from bench.warehouses.work import Work
from services.runtime.blob import BlobStore

RESULTS = Path(__file__).parent.parent / "results" / "warehouses.json"
DOC = Path(__file__).parent.parent.parent / "docs" / "destinations.md"
BEGIN, END = "<!-- figures: python -m bench.warehouses -->", "<!-- end of figures -->"
PLAYED = {"bigquery": 4, "snowflake": 4, "databricks": 4}  # by how much less is written where the server is slow
READ = 1000  # extractions out of a directory
OUR_STORES = ("postgres", "clickhouse")  # a row for each delivery, whatever items are in it


async def spent(way: Way, where: Servers, work: Work) -> float:
    """Return the CPU-seconds that one way takes for the work, its table and its connection made."""
    async with way(where, work) as write:
        await write(0)
        began = time.process_time()
        for number in range(len(work.batches)):
            await write(number)
        return time.process_time() - began


def measured(name: str, where: Servers, work: Work, rounds: int) -> Kind:
    """Measure both ways of a kind in turn."""
    took: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        pair = tuple(uvloop.run(spent(way, where, work)) for way in WAYS[name])
        if number:
            took.append((pair[0], pair[1]))
    rows = work.deliveries if name in OUR_STORES else work.rows

    def figure(which: int) -> Measured:
        cpu = statistics.median(each[which] for each in took)
        return Measured(round(cpu * 1000 / work.deliveries, 4), round(rows / cpu))

    ratio = statistics.median(writer / floor for writer, floor in took)
    items = work.rows // work.deliveries
    return Kind(name, work.deliveries, items, len(work.batches[0]), figure(0), figure(1), round(ratio, 2))


async def reading() -> float:
    """Return the CPU-ms of an extraction that is read out of a directory, with others."""
    with tempfile.TemporaryDirectory() as place:
        store, work = BlobStore(Path(place).as_uri()), Work("postgres", READ, 20, READ)
        [keys] = [[each.extraction_ref for each in batch] for batch in work.batches]
        [data, *_] = await work.get_each(keys[:1])
        assert isinstance(data, bytes)
        for key in keys:
            await store.put(key, data)
        await store.get_each(keys)
        began = time.process_time()
        await store.get_each(keys)
        return round((time.process_time() - began) * 1000 / READ, 4)


def main() -> int:
    """Measure, print, and write down where that is asked for."""
    options = argparse.ArgumentParser(prog="python -m bench.warehouses", description=__doc__.partition("\n")[0])
    options.add_argument("--kinds", default=",".join(WAYS), help="which, comma-separated (all)")
    options.add_argument("--deliveries", type=int, default=2000, help="of each round (2000)")
    options.add_argument("--items", default="20,100", help="of each delivery, comma-separated (20,100)")
    options.add_argument("--batch", type=int, default=100, help="deliveries written at once (100)")
    options.add_argument("--rounds", type=int, default=5, help="of each way (5)")
    options.add_argument("--write", action="store_true", help=f"renew bench/results/{RESULTS.name} and docs/{DOC.name}")
    given = options.parse_args()
    gc.freeze()  # as services do
    kinds = []
    with servers(dict(os.environ)) as where:
        for name in given.kinds.split(","):
            for items in map(int, given.items.split(",")):
                deliveries = max(given.batch, given.deliveries // PLAYED.get(name, 1) * 20 // items)
                kinds.append(measured(name, where, Work(name, deliveries, items, given.batch), given.rounds))
                print(kinds[-1], file=sys.stderr, flush=True)
        least = min(kinds, key=lambda each: each.writer.cpu_ms_per_delivery)
        consuming = consuming_of(where.settings, least.writer.cpu_ms_per_delivery * 1000)
    figures = Figures(machine_facts(), kinds, consuming, asyncio.run(reading()))
    print("\n".join(lines(figures)))
    if given.write:
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")
        DOC.write_text(with_figures(DOC.read_text(), figures, BEGIN, END))
    return 0


if __name__ == "__main__":
    sys.exit(main())
