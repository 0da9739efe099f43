"""Which API the command line talks to, and for which org: from the environment, or else from the local stack."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.cli.errors import NoKey
from services.cli.kept_keys import kept_key
from services.localstack.attach import api_url
from services.localstack.places import stack_directory


@dataclass(frozen=True, slots=True)
class Access:
    """Where the API is and the key of the org that calls it."""

    base_url: str
    key: str = field(repr=False)


def access(environ: Mapping[str, str], org_id: str = "") -> Access:
    """Return JOBLEDGER_API and JOBLEDGER_KEY, or the running stack's API and a key that was kept with the stack.

    Raises StackFault where there is no API and NoKey where there is no key.
    """
    base_url = api_url(environ)
    key = environ.get("JOBLEDGER_KEY")
    if key:
        return Access(base_url, key)
    if environ.get("JOBLEDGER_API"):
        raise NoKey(f"JOBLEDGER_API names {base_url}: set JOBLEDGER_KEY to a key of an org there")
    return Access(base_url, kept_key(stack_directory(environ), org_id).key)
