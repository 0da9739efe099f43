"""How large the numbers in messages may be."""

from typing import Annotated

from msgspec import Meta

# Milliseconds of it are microseconds that an event, whose numbers have 64 bits, can hold together with a time.
Int = Annotated[int, Meta(ge=-(2**43), le=2**43)]
Instant = Annotated[int, Meta(ge=0, le=2**53)]  # microseconds since 1970-01-01 UTC, up to the year 2255
