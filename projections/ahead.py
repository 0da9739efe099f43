"""Reads the log while the store takes what was read before: the two take turns on a CPU only where there is one."""

import threading
from collections.abc import Sequence
from typing import Generic

from projections.runner import Log, Read

LONG_SECONDS = 3600.0  # the log underneath waits no longer than it was told to


class AheadLog(Generic[Read]):
    """A log that reads one batch ahead, in a thread of its own, as much as was asked for last.

    What `poll` of the log underneath raises, it raises in place of a batch, and ever after. Close it to end the thread.
    """

    def __init__(self, log: Log[Read]) -> None:
        self._log = log
        self._changed = threading.Condition()
        self._asked = (0, 0.0)  # events, seconds
        self._batch: Sequence[Read] | None = None
        self._error: Exception | None = None
        self._closing = False
        self._thread: threading.Thread | None = None

    def poll(self, max_events: int, timeout_seconds: float) -> Sequence[Read]:
        """Return what was read meanwhile, waiting for it where nothing was."""
        self._asked = (max_events, timeout_seconds)
        if self._thread is None:
            self._thread = threading.Thread(target=self._read, name="read-ahead", daemon=True)
            self._thread.start()
        with self._changed:
            self._changed.wait_for(self._has_something, LONG_SECONDS)
            batch, self._batch = self._batch, None
            if batch is None and self._error:
                raise self._error
            self._changed.notify_all()
        return batch or []

    def close(self) -> None:
        """Wait for the batch that is being read, then let go of the log."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread:
            self._thread.join()
        self._log.close()

    def _read(self) -> None:
        while self._goes_on():
            try:
                batch = self._log.poll(*self._asked)
            except Exception as error:  # whoever polls gets it
                self._tell(None, error)
                return
            self._tell(batch, None)

    def _goes_on(self) -> bool:
        """Wait until the batch before was taken, however long what writes it takes; whether there is to be another."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or self._batch is None)
            return not self._closing

    def _tell(self, batch: Sequence[Read] | None, error: Exception | None) -> None:
        with self._changed:
            self._batch, self._error = batch, error
            self._changed.notify_all()

    def _has_something(self) -> bool:
        return self._batch is not None or self._error is not None
