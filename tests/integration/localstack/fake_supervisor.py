"""The supervisor of a stack whose services are fakes; the arguments are their names, `NAME:ill` cannot start."""

import os
import sys
from pathlib import Path

from services.localstack.places import stack_directory
from services.localstack.services import Service
from services.localstack.supervisor import Supervisor

FAKE = str(Path(__file__).with_name("fake_service.py"))

if __name__ == "__main__":
    services = [Service(name.partition(":")[0], (FAKE, *name.split(":")[1:])) for name in sys.argv[1:]]
    Supervisor(stack_directory(os.environ), os.environ, services, prepare=lambda _environ: None).run()
