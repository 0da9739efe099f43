"""The process of a spider: `python -m services.workers.spiders.child`, started by its worker alone."""

import logging
import os
import sys
from collections.abc import Callable
from functools import partial

import msgspec

from services.runtime.networks import networks_of
from services.workers.spiders.child import jail
from services.workers.spiders.child.calls import forbid_reaching
from services.workers.spiders.child.lines import PipeHandler
from services.workers.spiders.child.network import Direct, Guard, Way
from services.workers.spiders.child.pipe import Pipe
from services.workers.spiders.child.through import Through
from services.workers.spiders.frames import LENGTH, OURS, Note, Spec

PACKAGES = ("services", "schemas", "projections", "api")  # of ours: a project may have some of the same names
log = logging.getLogger(OURS)


def main(door: int, *, own_user: bool) -> int:
    """Do what the worker says in the first line; return the exit code."""
    control, frames = os.dup(0), os.dup(1)
    _redirect()
    spec = msgspec.json.decode(_told_first(control), type=Spec)
    apart = jail.leave_network() if door >= 0 else "switched off"
    jail.limit(spec.memory_mb, spec.cpus, own_user=own_user)
    jail.drop_privileges()
    loose = apart or forbid_reaching()
    way: Way = Through(door) if not apart else Direct()
    Guard(way, networks_of(",".join(spec.allowed)), programs=not loose).install()

    pipe = Pipe(control, frames)
    logging.root.addHandler(PipeHandler(pipe, spec.log_level))
    logging.root.setLevel(logging.NOTSET)
    logging.disable(logging.getLevelName(spec.log_level) - 1)  # what is not told is not even put together
    pipe.start()
    if loose:
        log.debug("no network of its own for this spider: %s", loose)
    try:
        does = _does(spec, pipe)
        os.chdir(spec.project)
        sys.path.insert(0, spec.project)
        _make_room()
        does()
    except BaseException as error:
        log.error("the run is broken", exc_info=error)
        pipe.note(Note(about="broken", reason=f"{type(error).__name__}: {error}"[:1_000]))
        return 1
    finally:
        logging.shutdown()
        pipe.flush()
    return 0


def _does(spec: Spec, pipe: Pipe) -> Callable[[], None]:
    from services.workers.spiders.child.crawl import crawl, names  # behind the guard of the network

    return partial(crawl, spec, pipe) if spec.does == "crawl" else partial(names, pipe)


def _redirect() -> None:
    """Leave an empty standard input, and have what is printed go where errors go: both others are the worker's."""
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)


def _told_first(control: int) -> bytes:
    return _exactly(control, LENGTH.unpack(_exactly(control, LENGTH.size))[0])


def _exactly(control: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(control, size - len(data))
        if not piece:
            raise SystemExit("the worker has gone")
        data += piece
    return data


def _make_room() -> None:
    """Forget the names of our packages; what is imported of them stays."""
    for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
        del sys.modules[name]


if __name__ == "__main__":
    code = main(int(sys.argv[1]), own_user=sys.argv[2] == "own")
    sys.stderr.flush()
    os._exit(code)  # threads of the project do not keep the process
