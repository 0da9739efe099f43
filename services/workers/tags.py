"""Tags that no parser gets through: each attribute is compared with all before it in the same tag."""

import re
from itertools import islice

MAX_ATTRIBUTES = 5_000  # of an element
MANY_CHARS = 2 * MAX_ATTRIBUTES  # of a tag; with less it cannot have as many
# As HTML has it: names, what separates them, values; a quote that begins no value belongs to a name.
_VALUE = r"=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+)"
_TAG = re.compile(rf"<[A-Za-z](?:[^\s/>=]++|[\s/]++|{_VALUE})*+")
_NAME = re.compile(rf"{_VALUE}|([^\s/>=]++)")


def overlong_tag(text: str) -> int | None:
    """Return where a tag with attributes without end begins, or None where there is none."""
    for tag in _TAG.finditer(text) if len(text) > MANY_CHARS else ():
        if tag.end() - tag.start() <= MANY_CHARS:
            continue
        names = (found for found in _NAME.finditer(text, tag.start(), tag.end()) if found.group(1))
        if sum(1 for _ in islice(names, MAX_ATTRIBUTES + 1)) > MAX_ATTRIBUTES:
            return tag.start()
    return None
