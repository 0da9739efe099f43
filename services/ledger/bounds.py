"""How large the numbers in messages may be."""

from typing import Annotated

from msgspec import Meta

# Milliseconds of it are microseconds that an event, whose numbers have 64 bits, can hold together with a time.
Int = Annotated[int, Meta(ge=-(2**43), le=2**43)]
