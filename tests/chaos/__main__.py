"""Breaks a real cluster for some minutes and judges what it did: `python -m tests.chaos --seed 1 --minutes 3`."""

import argparse
import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from services.localstack.errors import StackFault
from tests.chaos.run import Run

UNUSABLE = 2  # exit code where nothing could be tried


def main() -> int:
    """Run what the arguments ask for; exit code 1 where something is lost, doubled, illegal or early."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of faults and traffic")
    parser.add_argument("--minutes", type=float, default=3.0, help="how long customers work while things break")
    parser.add_argument("--json", action="store_true", help="print nothing but the report")
    parser.add_argument("--keep", action="store_true", help="keep the directory of a run that found nothing")
    asked = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix=f"jobledger-chaos-{asked.seed}-"))
    began = time.monotonic()

    def tell(step: str) -> None:
        line = f"{time.monotonic() - began:7.1f} {step}"
        with (directory / "run.log").open("a") as file:
            file.write(line + "\n")
        if not asked.json:
            print(line, file=sys.stderr, flush=True)

    # Whoever ends the run wants what it started to end too, and nothing left frozen.
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    again = f"make chaos SEED={asked.seed} MINUTES={asked.minutes:g}"
    try:
        report = asyncio.run(Run(asked.seed, asked.minutes, directory, tell).run())
    except StackFault as fault:
        print(f"{again}: cannot run: {fault}\nits logs are in {directory}", file=sys.stderr)
        return UNUSABLE
    except BaseException:
        print(f"{again}: it broke down; its logs are in {directory}", file=sys.stderr)
        raise
    document = msgspec.json.format(
        msgspec.json.encode({"seed": asked.seed, "minutes": asked.minutes, **msgspec.to_builtins(report)})
    )
    (directory / "report.json").write_bytes(document)
    print(document.decode())
    if report.ok and not asked.keep:
        shutil.rmtree(directory, ignore_errors=True)
    elif not report.ok:
        print(
            f"FAILED: {again} breaks the same again; logs, stores and report.json are in {directory}", file=sys.stderr
        )
    return not report.ok


if __name__ == "__main__":
    sys.exit(main())
