"""Folders that runs of spiders work in: a lock holds each while its worker lives, and it goes with its run."""

import contextlib
import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "jobledger-spider-"

log = logging.getLogger(__name__)


@contextlib.contextmanager
def working_folder(parent: str) -> Iterator[Path]:
    """Make a folder that only its user can look into, and take it away with all that is in it."""
    with contextlib.ExitStack() as held:
        folder = _made(parent, held)
        held.callback(remove, folder)
        yield folder


def give(folder: Path, uid: int | None) -> None:
    """Give a folder and all in it to a user."""
    if uid is not None:
        for each in (folder, *folder.rglob("*")):
            os.chown(each, uid, uid, follow_symlinks=False)


def sweep(parent: str) -> None:
    """Take away folders of workers that were killed: nobody holds them. Those of others, and of live ones, stay."""
    for folder in Path(parent or tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), _locked(folder):
            remove(folder)
            log.info("working folder of a killed worker taken away", extra={"folder": str(folder)})


def remove(folder: Path) -> None:
    """Take a folder away, whatever rights its spider has taken from the folders in it."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        with contextlib.suppress(OSError):
            folder.chmod(0o700)
        for top, names, _ in os.walk(folder):
            for each in (Path(top) / name for name in names):
                if not each.is_symlink():
                    with contextlib.suppress(OSError):
                        each.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        log.warning("a working folder of a spider is still there", extra={"folder": str(folder)})


def _made(parent: str, held: contextlib.ExitStack) -> Path:
    """Return a new folder that is locked; one that a sweep took before that is made anew."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent or None))
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            held.enter_context(_locked(folder))
            if folder.exists():
                return folder


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[int]:
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield held
    finally:
        os.close(held)
