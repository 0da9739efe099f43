"""What is found out about processes, whatever they call themselves."""

import subprocess
import sys

from services.workers.spiders import tree

NOBODY = 4_000_000_000  # a user that no process runs as
NAMED = """
import ctypes, sys
ctypes.CDLL(None).prctl(15, b"\\xff\\xe4 a\\x0bb")
print("named", flush=True)
sys.stdin.read()
"""


def test_a_process_whose_name_is_no_text_is_looked_at_like_any_other() -> None:
    with subprocess.Popen([sys.executable, "-c", NAMED], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"named\n"
        tree.kill_users({NOBODY})
        assert process.poll() is None
        process.stdin.close()
