"""The process that reads what may take long: `python -m services.workers.extract.apart FD`.

It takes work on its standard input, one piece after another, and answers on its standard output, each as its length and
a pickle; both ends are ours. The kernel ends it where a piece takes more than its time of the processor: libxml2 and
filters of JSONPath look at no clock. The field that is read stands in the memory shared by the descriptor FD.
"""

import mmap
import pickle
import resource
import struct
import sys
import time
from typing import BinaryIO

LENGTH = struct.Struct(">Q")
NAME_BYTES = 256


def main() -> None:
    """Do what comes until nothing comes any more."""
    field = mmap.mmap(int(sys.argv[1]), NAME_BYTES)

    def tell(name: str) -> None:
        field[:] = name.encode("utf-8", "replace")[:NAME_BYTES].ljust(NAME_BYTES, b"\0")

    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while asked := received(source):
        cpu_seconds, work = pickle.loads(asked)  # noqa: S301  # of the process that started this one
        tell("")
        limit = int(time.process_time() + cpu_seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        try:
            answer = pickle.dumps((work(tell), None))
        except Exception as error:
            answer = pickle.dumps((None, error))
        sent(sink, answer)


def received(source: BinaryIO) -> bytes:
    """Return the next piece; nothing where the other end has gone."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return b""
    (length,) = LENGTH.unpack(head)
    piece = source.read(length)
    return piece if len(piece) == length else b""


def sent(sink: BinaryIO, piece: bytes) -> None:
    """Hand on one piece."""
    sink.write(LENGTH.pack(len(piece)))
    sink.write(piece)
    sink.flush()


if __name__ == "__main__":
    main()
