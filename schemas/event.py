"""What all events say, beside their header."""

from typing import Annotated

from msgspec import Struct

from schemas.values import doc


class Event(Struct, frozen=True, kw_only=True, gc=False):
    """What all events say, beside their header."""

    org_id: Annotated[str, doc("the org whose ledger this belongs to; empty for events about a partition")] = ""
    job_id: Annotated[str, doc("the job this is about; empty for events about an org or a partition")] = ""
    attempt: Annotated[int, doc("fencing number of the claim that was current; 0 before the first claim")] = 0
    private: Annotated[
        bytes,
        doc("what may identify people: an encoding byte (0: plain JSON object), then the encoded bytes; may be empty"),
    ] = b""
