"""What callers get of provider credentials: one struct per answer, as in `api.answers`; never what is kept."""

from api.answers import Answer
from api.times import Timestamp


class Credential(Answer, frozen=True, kw_only=True):
    """A credential without its secret; `fingerprint` says whether two that were saved are the same."""

    provider: str
    label: str
    fingerprint: str
    created_at: Timestamp
    updated_at: Timestamp


class Credentials(Answer, frozen=True, kw_only=True):
    """All credentials of an org, by provider."""

    credentials: list[Credential]
