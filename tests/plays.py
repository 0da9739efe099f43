"""Where a job stands in a stream of recorded events."""

from msgspec import Struct

from schemas.values import Destination
from tests.item_streams import Come
from tests.spider_streams import Scraped

DESTINATIONS = (
    Destination(destination_id="internal", kind="postgres"),
    Destination(destination_id="hook", kind="webhook"),
    Destination(destination_id="lake", kind="bigquery", gating=False),
)


class Play(Struct):
    """Where a job stands in the stream."""

    org_id: str
    job_id: str
    destinations: tuple[Destination, ...]
    status: str = "pending"
    seq: int = 0
    attempt: int = 0
    dispatched: int = 0
    out: bool = False
    step: int = 0
    open_deliveries: dict[str, int] = {}  # destination -> try
    generations: dict[str, int] = {}
    openers: dict[str, bytes] = {}  # by destination: the event that opened its part of the gate
    erasures: int = 0
    gone: str = ""  # expired or deleted
    cost: int = 0  # credits
    come: Come | None = None  # of a module job
    scraped: Scraped | None = None  # of a spider job
    first: "Play | None" = None  # of its chain, where it goes on from another job
    follower: "Play | None" = None  # the newest that goes on from it
