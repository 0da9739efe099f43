"""As whom a spider's process runs, and what it knows: a user of its own, and an environment without secrets of ours."""

import contextlib
import ctypes
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from services.workers.spiders import tree
from services.workers.spiders.options import RESERVED

CHILD = "services.workers.spiders.child"
PROBE_SECONDS = 60.0  # for finding out what this machine allows
PR_SET_DUMPABLE = 4
KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")  # of the worker's environment

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Users:
    """User ids that nobody else has, one for each spider that runs; none where the worker may not take them."""

    free: list[int] = field(default_factory=list)
    every: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        self.every = frozenset(self.free)

    @contextlib.contextmanager
    def one(self) -> Iterator[int | None]:
        """Hold a user id for as long as a spider runs; whatever runs as that user by then is killed."""
        if not self.every:
            yield None
            return
        uid = self.free.pop(0)  # there are as many as slots
        try:
            yield uid
        finally:
            tree.kill_users({uid})
            self.free.append(uid)


def users(first: int, count: int) -> Users:
    """Return `count` users from `first` on (0: none), or none with a warning where they cannot run our Python."""
    if not first:
        return Users()
    if os.geteuid() != 0:
        log.warning("spiders run as the user of their worker: only root gives them one of their own")
        return Users()
    tried = (
        subprocess.run(
            [sys.executable, "-P", "-c", f"import {CHILD}.jail"],
            env=environment({}, Path("/")),
            cwd="/",
            user=first,
            group=first,
            extra_groups=[],
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
        if _may_execute(first)
        else None
    )
    if tried is None or tried.returncode:
        log.warning("spiders run as the user of their worker: another one cannot read its Python", extra={"uid": first})
        return Users()
    return Users(list(range(first, first + count)))


def _may_execute(uid: int) -> bool:
    """Whether a user gets to our Python: every folder on the way to it is open to others."""
    real = Path(sys.executable).resolve()
    return all(folder.stat().st_mode & 0o001 for folder in (real, *real.parents))


def environment(given: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the environment of a spider: nothing of the worker's but where programs and certificates are."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    ours = {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
    }
    theirs = {name: value for name, value in given.items() if not RESERVED.fullmatch(name)}
    return {**kept, **theirs, **ours}


def hide() -> None:
    """Keep memory and environment of this process from others of its user: there are secrets in them."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
