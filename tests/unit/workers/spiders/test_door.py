"""What a spider may hand to its worker's door."""

import asyncio
import socket
from pathlib import Path

from services.workers.spiders.door import Door


def descriptors() -> int:
    """Return how many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_what_is_no_socket_is_closed_and_the_next_one_is_answered(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door = Door(ours, ())
    door.open()
    before = descriptors()
    with theirs, (tmp_path / "file").open("wb") as file:
        for _ in range(20):
            socket.send_fds(theirs, [b"{}"], [file.fileno()])
        answers, handed = socket.socketpair()
        with answers, handed:
            socket.send_fds(theirs, [b"{}"], [handed.fileno()])
            handed.close()
            answers.setblocking(False)
            assert await asyncio.get_running_loop().sock_recv(answers, 1) == b""  # what was asked is nothing
        assert descriptors() <= before + 1  # the file of this test
    await door.close()
