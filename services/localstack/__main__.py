"""Run the supervisor of one stack: `python -m services.localstack`, the background half of `jobledger up`."""

import logging
import os
import sys

from services.localstack.errors import StackFault
from services.localstack.places import stack_directory
from services.localstack.services import services_of
from services.localstack.supervisor import Supervisor
from services.runtime.logs import log_uncaught, setup_plain

log = logging.getLogger("services.localstack")


def main() -> int:
    """Run until a signal asks to stop; 1 where the stack could not be started."""
    log_uncaught()
    setup_plain("INFO", "supervisor")
    try:
        Supervisor(stack_directory(os.environ), os.environ, services_of(os.environ), tell=_log).run()
    except StackFault as fault:
        _log(str(fault))
        return 1
    return 0


def _log(step: str) -> None:
    log.info(step)


if __name__ == "__main__":
    sys.exit(main())
