"""What the bench reads of processes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.processes import cpu_ms, memory, used

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux's /proc")
BURN = "import time\nwhile time.process_time() < {seconds}: pass\nprint('burnt', flush=True)\ninput()"
PARENT = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN.format(seconds=0.3)!r}])"


@contextmanager
def burnt(code: str) -> Iterator[int]:
    """Run a program until it says that it has used its CPU time; lend its pid and end it."""
    program = [sys.executable, "-c", code]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "burnt\n"
        yield process.pid
        process.communicate("\n")


def test_the_cpu_time_of_a_child_counts_for_its_ancestor() -> None:
    with burnt(PARENT) as parent:
        assert cpu_ms({"parent": parent})["parent"] >= 280


def test_a_child_with_a_name_of_its_own_counts_for_itself_only() -> None:
    with burnt(BURN.format(seconds=0.3)) as child:
        looked = cpu_ms({"tests": os.getpid(), "child": child})
        alone = cpu_ms({"tests": os.getpid()})
    assert looked["child"] >= 280
    assert alone["tests"] >= looked["tests"] + 280


def test_what_was_used_is_the_difference_of_two_looks() -> None:
    assert used({"a": 10.0}, {"a": 25.0}) == {"a": 15.0}


def test_a_process_that_is_gone_costs_nothing_any_more() -> None:
    with burnt(BURN.format(seconds=0)) as pid:
        pass
    assert cpu_ms({"gone": pid}) == {"gone": 0.0}
    assert memory({"gone": pid})["gone"].resident == 0.0


def test_shared_pages_count_once_in_proportional_memory() -> None:
    found = memory({"tests": os.getpid()})["tests"]
    assert 0 < found.proportional <= found.resident
