"""What streams cost one API process: CPU per event and viewer, memory per viewer. `python -m bench.stream [--write]`.

Each event is sent on only when every viewer has the one before, so that none are sent together. The viewers are in a
process of their own; what deciding and encoding the event costs is taken off, as a run without viewers has it.
"""

import argparse
import asyncio
import subprocess
import sys
from pathlib import Path

import msgspec
import uvloop

from bench.machine import machine_facts
from bench.stream_server import Hello, Spent

RESULTS = Path(__file__).parent / "results" / "stream.json"
VIEWERS = (1, 50, 500)
EVENT = b"event: event\n"
KIB = 1024
PATIENCE_SECONDS = 120.0


class Cost(msgspec.Struct, frozen=True):
    """What a number of viewers cost."""

    viewers: int
    cpu_ms_per_event: float  # the event itself taken off
    cpu_ms_per_event_and_viewer: float
    kib_per_viewer: float


class Figures(msgspec.Struct, frozen=True):
    """One run."""

    command: str
    machine: dict[str, str | int | float]
    events: int
    cpu_ms_per_event_without_viewers: float
    costs: list[Cost]
    most_against_one: float  # cost per event and viewer of the most viewers, as a part of that of one


class Viewers(asyncio.Protocol):
    """One viewer; all of them count in one place."""

    got = 0
    moved: asyncio.Event

    def data_received(self, data: bytes) -> None:
        """Count the events; one is never cut in two, for it is sent by itself and is short."""
        Viewers.got += data.count(EVENT)
        Viewers.moved.set()


class Server:
    """The API process."""

    def __init__(self) -> None:
        command = (sys.executable, "-m", "bench.stream_server")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.hello = msgspec.json.decode(self._line(), type=Hello)

    def event(self) -> None:
        """Let one more event of the job happen."""
        self._tell("event")

    def spent(self) -> Spent:
        """Return what the process has used so far."""
        self._tell("cost")
        return msgspec.json.decode(self._line(), type=Spent)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        with self._process:  # closes its pipes
            self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline()


async def measure(events: int) -> Figures:
    """Run each number of viewers on a process of its own."""
    base = await run_once(0, events)
    runs = {viewers: await run_once(viewers, events) for viewers in VIEWERS}
    without = base[0] / events
    costs = [
        Cost(
            viewers=viewers,
            cpu_ms_per_event=round(cpu_ms / events - without, 3),
            cpu_ms_per_event_and_viewer=round((cpu_ms / events - without) / viewers, 4),
            kib_per_viewer=round(grown / KIB / viewers, 1),
        )
        for viewers, (cpu_ms, grown) in runs.items()
    ]
    return Figures(
        command=f"python -m bench.stream --events {events}",
        machine=machine_facts(),
        events=events,
        cpu_ms_per_event_without_viewers=round(without, 3),
        costs=costs,
        most_against_one=round(costs[-1].cpu_ms_per_event_and_viewer / costs[0].cpu_ms_per_event_and_viewer, 2),
    )


async def run_once(viewers: int, events: int) -> tuple[float, int]:
    """Return the CPU time in ms of so many events, and by how many bytes the process grew by its viewers."""
    server = Server()
    try:
        before = server.spent()
        loop, hello = asyncio.get_running_loop(), server.hello
        path = f"/api/v1/jobs/{hello.job_id}/stream"
        asked = f"GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {hello.key}\r\nLast-Event-ID: 0:0\r\n\r\n"
        Viewers.got, Viewers.moved = 0, asyncio.Event()
        connected = []
        for _ in range(viewers):
            transport, _ = await loop.create_connection(Viewers, "127.0.0.1", hello.port)
            transport.write(asked.encode())
            connected.append(transport)
        await _got(3 * viewers)  # submitted, dispatched, claimed
        grown = server.spent()
        for number in range(events):
            server.event()
            await _got((4 + number) * viewers)
        after = server.spent()
        for transport in connected:
            transport.close()
        return (after.cpu_seconds - grown.cpu_seconds) * 1000, grown.rss_bytes - before.rss_bytes
    finally:
        server.close()


async def _got(count: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while Viewers.got < count:
            Viewers.moved.clear()
            await Viewers.moved.wait()


def main() -> int:
    """Measure, print, and with `--write` keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.stream", description=__doc__)
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--write", action="store_true", help=f"keep the figures in bench/results/{RESULTS.name}")
    options = parser.parse_args()
    text = msgspec.json.format(msgspec.json.encode(uvloop.run(measure(options.events))), indent=2)
    print(text.decode())
    if options.write:
        RESULTS.write_bytes(text + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
