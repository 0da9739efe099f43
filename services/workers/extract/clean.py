"""Characters that no store takes: NUL and lone surrogates become U+FFFD and are counted."""

import re
from typing import Any

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
MAX_DEPTH = 40


def clean_text(text: str) -> tuple[str, int]:
    """Return a text with what cannot be stored replaced, and how much that was; the six characters \\u0000 stay."""
    return UNSTORABLE.subn("\ufffd", text)


def clean(value: Any, depth: int = 0) -> tuple[Any, int]:
    """Do the same in every key and value of a JSON-like structure; what is nested too deep becomes None."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict | list) and depth > MAX_DEPTH:
        return None, 0
    if isinstance(value, list):
        cleaned = [clean(one, depth + 1) for one in value]
        return [one for one, _ in cleaned], sum(count for _, count in cleaned)
    if isinstance(value, dict):
        total, result = 0, {}
        for key, one in value.items():
            new_key, in_key = clean_text(str(key))
            new_one, in_one = clean(one, depth + 1)
            result[new_key] = new_one
            total += in_key + in_one
        return result, total
    return value, 0
