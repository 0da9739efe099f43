"""Celery's app: one task that does nothing, acknowledged after it ran, its result kept in Redis."""

import os

from celery import Celery

app = Celery("peer", broker=f"{os.environ['PEER_URL']}/0", backend=f"{os.environ['PEER_URL']}/1")
app.conf.update(
    task_acks_late=True,  # else a task that its worker had taken is lost with the worker
    task_reject_on_worker_lost=True,
    broker_connection_retry_on_startup=True,
)


@app.task(name="job")
def job(number: int) -> int:
    """Do nothing."""
    return number
