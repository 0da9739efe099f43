"""Run the supervisor of one stack: `python -m services.localstack`, the background half of `jobledger up`."""

import os
import sys

from services.localstack.errors import StackFault
from services.localstack.places import stack_directory
from services.localstack.services import SERVICES
from services.localstack.supervisor import Supervisor


def main() -> int:
    """Run until a signal asks to stop; 1 where the stack could not be started."""
    try:
        Supervisor(stack_directory(os.environ), os.environ, SERVICES, tell=_log).run()
    except StackFault as fault:
        _log(str(fault))
        return 1
    return 0


def _log(step: str) -> None:
    sys.stderr.write(f"{step}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
