"""A decider process that stops itself (SIGSTOP) inside a transaction when told to: the program of `test_fencing.py`.

What stops it is a producer of this file in the place of librdkafka's; the decider's own code is as it is shipped. The
first argument is a file: while it is there, its text names the point at which the next transaction stops.
"""

import signal
import sys
import threading
from pathlib import Path
from typing import Any, Literal

import confluent_kafka

from services.decider.__main__ import main
from services.runtime import transactions
from services.runtime.process import run

Point = Literal["begin", "queued", "sent"]  # behind begin; before commit, with the records still here or on the broker
FLUSH_SECONDS = 10.0


def stop_at(point: Point, order: Path) -> None:
    """Stop until SIGCONT if that is the order, and forget the order."""
    if order.exists() and order.read_text() == point:
        order.unlink()
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)  # this thread first: it does nothing more


def pausing(order: Path) -> type[confluent_kafka.Producer]:
    """Return a transactional producer that follows the orders in a file."""

    class Pausing(confluent_kafka.Producer):
        def begin_transaction(self, *args: Any) -> None:
            super().begin_transaction(*args)
            stop_at("begin", order)

        def commit_transaction(self, *args: Any) -> None:
            stop_at("queued", order)
            if order.exists() and order.read_text() == "sent":
                self.flush(FLUSH_SECONDS)
            stop_at("sent", order)
            super().commit_transaction(*args)

    return Pausing


if __name__ == "__main__":
    setattr(transactions, "Producer", pausing(Path(sys.argv[1])))  # noqa: B010  # a name that it does not export
    run(main, "decider")
