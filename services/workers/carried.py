"""What a walk carries from node to node, and how a resumed walk gets it back."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Body:
    """A page in the blob store, and its bytes."""

    ref: str
    content_type: str
    data: bytes = field(repr=False)
    url: str = ""  # where it came from at last; empty: not known any more


@dataclass(frozen=True, slots=True)
class Summary:
    """What an extraction says of itself beside its document in the blob store."""

    schema_id: str = ""
    data_type: str = ""
    items: int = 0
    completeness: float = 0.0
    validation: float = 0.0
    composite: float = 0.0
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Carried:
    """The newest page and the extraction read from it, as far as the walk has come."""

    body: Body | None = None
    extraction: Summary | None = None


NOTHING = Carried()
