"""The event about the results of a job that ended long ago."""

from typing import Annotated

from schemas.event import Event
from schemas.values import Micros, doc


class JobExpired(Event, frozen=True, kw_only=True, gc=False):
    """The results of a job that had ended are past retention: our stores forget them, and the job itself stays."""

    ended_at: Annotated[Micros, doc("when the job ended")] = 0
    retention_seconds: Annotated[int, doc("how long its results had to be kept from then on")] = 0
    result_bytes: Annotated[int, doc("size of the scraped body that goes; 0: there was none")] = 0
    items: Annotated[int, doc("how many extracted items go")] = 0
    rows: Annotated[int, doc("how many tables of ours had acknowledged its extraction")] = 0
    digest: Annotated[bytes, doc("of a job with planned items: digest over its chunks of them; empty: none")] = b""
    planned: Annotated[int, doc("of a job with planned items: how many there were")] = 0
    errors: Annotated[int, doc("of a job with planned items: how many of them did not succeed")] = 0
