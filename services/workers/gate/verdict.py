"""What the gate is asked about, and what it answers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """An answer as the provider gave it."""

    status: int
    content_type: str
    body: bytes
    url: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a page is refused: the rule, and the words or marks that gave it away."""

    rule: str
    evidence: str = ""
