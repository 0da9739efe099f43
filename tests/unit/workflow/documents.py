"""A document that can run, as a customer would write it, to be broken one way at a time."""

from typing import Any

import msgspec

Document = dict[str, Any]


def good_document() -> Document:
    """Return entry -> a -(fail)-> b -(fail)-> failed, each success -> extract -> warehouse -> result."""
    return {
        "name": "shop",
        "nodes": [
            {"id": "entry", "kind": "entry"},
            {"id": "a", "kind": "service", "settings": {"provider": "direct", "retries": 2, "retryDelayMs": 100}},
            {
                "id": "b",
                "kind": "service",
                "settings": {"provider": "zyte", "renderJs": True, "retryBackoff": "instant"},
            },
            {"id": "extract", "kind": "extractor", "settings": {"fields": [{"name": "title", "query": "h1"}]}},
            {"id": "warehouse", "kind": "warehouse"},
            {"id": "result", "kind": "result"},
            {"id": "failed", "kind": "failed"},
        ],
        "edges": [
            {"source": "entry", "target": "a"},
            {"source": "a", "target": "extract", "on": "success"},
            {"source": "a", "target": "b", "on": "fail"},
            {"source": "b", "target": "extract", "on": "success"},
            {"source": "b", "target": "failed", "on": "fail"},
            {"source": "extract", "target": "warehouse", "on": "success"},
            {"source": "warehouse", "target": "result"},
        ],
    }


def encoded(document: Document) -> bytes:
    """Return a document as JSON."""
    return msgspec.json.encode(document)
