"""Tags that no parser gets through: each attribute is compared with all before it in the same tag."""

import re
from itertools import islice

import re2

MAX_ATTRIBUTES = 5_000  # of an element
MANY_BYTES = 2 * MAX_ATTRIBUTES  # of a tag; with less it cannot have as many
# As HTML has it: names, what separates them, values; a quote that begins no value belongs to a name.
_VALUE = rb"=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+)"
_TAG = re.compile(rb"<[A-Za-z](?:[^\s/>=]++|[\s/]++|" + _VALUE + rb")*+")
_NAME = re.compile(_VALUE + rb"|([^\s/>=]++)")


def _of_many_names() -> "re2._Regexp[bytes]":
    """Return the pattern of a tag of hundreds of names, and of some scripts: of RE2, which is done in linear time."""
    options = re2.Options()
    options.log_errors = False  # where its memory is used up it goes on, slower, and says so
    options.max_mem = 32 * 1024 * 1024  # with its default, pages of many kinds would use it up
    separator = r"(?:[\s/]|=\s*(?:\"[^\"]*\"|'[^']*')|=)"
    return re2.compile(rf"<[A-Za-z][^\s/=>]*(?:{separator}+[^\s/=>]+){{600}}".encode(), options)


_SUSPICIOUS = _of_many_names()


def overlong_tag(markup: bytes) -> int | None:
    """Return where in markup (UTF-8) a tag with attributes without end begins, or None where there is none."""
    if len(markup) <= MANY_BYTES or not _SUSPICIOUS.search(markup):
        return None
    for tag in _TAG.finditer(markup):
        if tag.end() - tag.start() <= MANY_BYTES:
            continue
        names = (found for found in _NAME.finditer(markup, tag.start(), tag.end()) if found.group(1))
        if sum(1 for _ in islice(names, MAX_ATTRIBUTES + 1)) > MAX_ATTRIBUTES:
            return tag.start()
    return None
