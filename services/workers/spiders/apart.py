"""Whether spiders get a network of their own on this machine: tried once, before the first of them."""

import logging
import subprocess
import sys
from pathlib import Path

from services.workers.spiders.sandbox import CHILD, PROBE_SECONDS, environment

log = logging.getLogger(__name__)


def network_apart(uid: int | None = None) -> bool:
    """Return whether a process of this user can have one; where not, why is logged as a warning."""
    reason = why_not_apart(uid)
    if reason:
        log.warning(
            "spiders share the network of their worker: addresses are checked in their process alone,"
            " and they start no programs",
            extra={"reason": reason},
        )
    return not reason


def why_not_apart(uid: int | None = None) -> str:
    """Return why not, or nothing."""
    try:
        tried = subprocess.run(
            [sys.executable, "-P", "-m", f"{CHILD}.probe"],
            env=environment({}, Path("/")),
            cwd="/",
            user=uid,
            group=uid,
            extra_groups=None if uid is None else [],
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return tried.stdout or (tried.stderr[-500:] if tried.returncode else "")
