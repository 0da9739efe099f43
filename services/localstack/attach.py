"""Settings of the stack that runs here, for commands that talk to it."""

from collections.abc import Mapping

from services.localstack.errors import StackFault
from services.localstack.places import stack_directory
from services.localstack.secret_file import read_secrets
from services.localstack.state import StackState, read_state
from services.runtime.settings import Settings, from_files, settings_from

NEEDED = ("JOBLEDGER_KAFKA", "JOBLEDGER_POSTGRES", "JOBLEDGER_REGISTRY", "JOBLEDGER_BLOBS")


def running_stack(environ: Mapping[str, str]) -> StackState:
    """The stack that runs in the current stack directory; StackFault where none does."""
    directory = stack_directory(environ)
    state = read_state(directory.state)
    if state is None or not state.runs():
        raise StackFault(
            f"no stack runs in {directory.root}: start one with `jobledger up`, or set JOBLEDGER_STACK_DIR"
        )
    return state


def attached_settings(environ: Mapping[str, str]) -> Settings:
    """Settings from the environment where it names every part, or else from the running stack and its secrets."""
    given = from_files(environ)
    if all(given.get(key) for key in NEEDED):
        return settings_from(given)
    keys = {"JOBLEDGER_CREDENTIALS_KEY": _secret(environ, "credentials_key")}
    return settings_from({**given, **running_stack(environ).environ, **keys})


def api_url(environ: Mapping[str, str]) -> str:
    """Base URL of the API: JOBLEDGER_API, or the running stack's."""
    given = environ.get("JOBLEDGER_API")
    if given:
        return given.rstrip("/")
    api = running_stack(environ).process("api")
    if api is None:
        raise StackFault("the running stack has no API: set JOBLEDGER_API to one's base URL")
    return api.endpoint


def operator_key(environ: Mapping[str, str]) -> str:
    """The operator key: JOBLEDGER_OPERATOR_KEY, or the one that the stack generated."""
    given = from_files(environ).get("JOBLEDGER_OPERATOR_KEY")
    if given:
        return given
    kept = read_secrets(stack_directory(environ).secrets)
    if kept is None:
        raise StackFault("no operator key: set JOBLEDGER_OPERATOR_KEY, or start a stack with `jobledger up`")
    return kept.operator_key


def signing_key(environ: Mapping[str, str]) -> str:
    """The seed that signs heads: JOBLEDGER_SIGNING_KEY, or the one that the stack generated; empty: neither."""
    return _secret(environ, "signing_key")


def _secret(environ: Mapping[str, str], name: str) -> str:
    given = from_files(environ).get(f"JOBLEDGER_{name.upper()}")
    if given:
        return given
    kept = read_secrets(stack_directory(environ).secrets)
    return str(getattr(kept, name)) if kept else ""
