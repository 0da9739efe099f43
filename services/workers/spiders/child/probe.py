"""Tries whether a process can have a network of its own here: `python -m services.workers.spiders.child.probe`.

Prints why not, or nothing.
"""

import sys

from services.workers.spiders.child.calls import forbid_reaching
from services.workers.spiders.child.jail import drop_privileges, leave_network


def main() -> str:
    """Give up what a spider's process gives up."""
    if reason := leave_network():
        return reason
    drop_privileges()
    return forbid_reaching()


if __name__ == "__main__":
    sys.stdout.write(main())
