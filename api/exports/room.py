"""Room for workbooks: each lies on the disk of an instance, and takes a processor, before its first byte is sent."""

from collections.abc import Iterator
from contextlib import contextmanager

from api.errors import Problem
from services.runtime.metrics import level

WORKBOOKS_AT_ONCE = 4  # of one instance
RETRY_SECONDS = 15


class Room:
    """So many places; whoever finds none is told to come again."""

    def __init__(self, size: int = WORKBOOKS_AT_ONCE) -> None:
        self._size = size
        self._taken = 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Have a place to the end of the block, however it ends. Raises Problem `too_many_workbooks`."""
        if self._taken >= self._size:
            message = (
                f"this instance makes {self._size} workbooks already, as many as it may: ask again after Retry-After, "
                "or ask for format=csv, which has no such limit"
            )
            raise Problem("too_many_workbooks", message, field="format", headers={"Retry-After": str(RETRY_SECONDS)})
        self._note(1)
        try:
            yield
        finally:
            self._note(-1)

    def _note(self, change: int) -> None:
        self._taken += change
        level("workbooks_made", self._taken)
