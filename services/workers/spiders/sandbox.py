"""Where and as whom a spider's process runs: a folder that goes with it, an environment and a user of its own."""

import contextlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PREFIX = "jobledger-spider-"
CHILD = "services.workers.spiders.child"
PROBE_SECONDS = 60.0
KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")  # of the worker's environment

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Users:
    """User ids that nobody else has, one for each spider that runs; none where the worker may not take them."""

    free: list[int] = field(default_factory=list)

    @contextlib.contextmanager
    def one(self) -> Iterator[int | None]:
        """Hold a user id for as long as a spider runs."""
        uid = self.free.pop() if self.free else None
        try:
            yield uid
        finally:
            if uid is not None:
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
    return {**kept, **given, **ours}


@contextlib.contextmanager
def working_folder(parent: str, uid: int | None) -> Iterator[Path]:
    """Make a folder that only its user can look into, and take it away with all that is in it."""
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent or None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            log.warning("a working folder of a spider is still there", extra={"folder": str(folder)})


def give(folder: Path, uid: int | None) -> None:
    """Give a folder and all in it to a user."""
    if uid is not None:
        for each in (folder, *folder.rglob("*")):
            os.chown(each, uid, uid, follow_symlinks=False)


def sweep(parent: str) -> None:
    """Take away folders that workers have left which were killed."""
    for folder in Path(parent or tempfile.gettempdir()).glob(f"{PREFIX}*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        if number.isdecimal() and not Path(f"/proc/{number}").exists() and Path("/proc/self").exists():
            shutil.rmtree(folder, ignore_errors=True)
