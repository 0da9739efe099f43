"""What of a body no type says and JSON Schema does: which fields go together. By the name of the struct.

docs/openapi.json has these beside what follows from the types; the handlers refuse the same in words.
"""

from typing import Any

from services.ledger.provider_settings import PROVIDERS, SECRET, WITH_CREDENTIAL


def _sent(name: str, **schema: Any) -> dict[str, Any]:
    """Say that a field is there, and not null."""
    return {"required": [name], "properties": {name: schema}}


def _secret(provider: str) -> dict[str, Any]:
    """Say what the secret of a provider holds."""
    fields = PROVIDERS[provider].credential
    held = {name: {"type": "string", "pattern": rf"^{SECRET[name].pattern}$"} for name in fields}
    secret = {"required": list(fields), "properties": held, "additionalProperties": False}
    return {"properties": {"provider": {"const": provider}, "secret": secret}}


RULES: dict[str, dict[str, Any]] = {
    "SubmitJobs": {"oneOf": [_sent("url", type="string"), _sent("urls", type="array")]},
    "ChangeOrg": {"anyOf": [_sent(name, type="integer") for name in ("maxInFlight", "maxPending", "maxQueueSeconds")]},
    "ChangeCredits": {"oneOf": [_sent("grant", type="integer"), _sent("set", type="integer")]},
    "TagFilter": {"anyOf": [_sent(name, minItems=1) for name in ("any", "all", "none")]},
    "SaveCredential": {"oneOf": [_secret(provider) for provider in WITH_CREDENTIAL]},
}
