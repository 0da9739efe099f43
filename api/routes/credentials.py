"""Provider credentials of the caller's org: save, list, delete. Nothing answers a secret."""

from aiohttp import web

from api import credential_answers, requests
from api.config import credentials
from api.errors import Problem, invalid, not_found
from api.http import answer
from api.operation import Call, Operation
from api.times import iso
from services.ledger.provider_settings import WITH_CREDENTIAL, credential_fault
from services.runtime.kept_secrets import KNOWN_SECONDS
from services.runtime.sealing import Sealer


async def save(call: Call) -> web.StreamResponse:
    """Save a credential, in place of the one before."""
    body: requests.SaveCredential = call.body
    keys = call.parts.settings.credentials_key
    if not keys:
        message = "credentials cannot be kept here: the operator has to set JOBLEDGER_CREDENTIALS_KEY"
        raise Problem("credentials_disabled", message)
    fault = credential_fault(body.provider, body.secret)
    if fault:
        raise invalid("secret" if body.provider in WITH_CREDENTIAL else "provider", fault)
    saved = await credentials.save(
        call.parts.pool, Sealer(keys), call.caller.org_id, body.provider, body.label, body.secret
    )
    return answer(200 if saved.replaced else 201, _shown(saved), {"Cache-Control": "no-store"})


async def every(call: Call) -> web.StreamResponse:
    """Answer all credentials of the org, without secrets."""
    found = await credentials.every(call.parts.pool, call.caller.org_id)
    return answer(200, credential_answers.Credentials(credentials=[_shown(credential) for credential in found]))


async def delete(call: Call) -> web.StreamResponse:
    """Delete a credential; workers forget it within seconds."""
    deleted = await credentials.delete(call.parts.pool, call.caller.org_id, call.request.match_info["provider"])
    if deleted is None:
        raise not_found("credential")
    return answer(200, _shown(deleted))


def _shown(credential: credentials.Credential) -> credential_answers.Credential:
    return credential_answers.Credential(
        provider=credential.provider,
        label=credential.label,
        fingerprint=credential.fingerprint,
        created_at=iso(credential.created_at),
        updated_at=iso(credential.updated_at),
    )


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/credentials",
        summary="Save what the org signs in with at a provider, or replace it; no answer ever shows it",
        access="admin",
        handler=save,
        body=requests.SaveCredential,
        answers={201: credential_answers.Credential, 200: credential_answers.Credential},
        errors=("credentials_disabled",),
    ),
    Operation(
        method="GET",
        path="/api/v1/credentials",
        summary="List the provider credentials of the org, without secrets",
        access="admin",
        handler=every,
        answers={200: credential_answers.Credentials},
    ),
    Operation(
        method="DELETE",
        path="/api/v1/credentials/{provider}",
        summary=f"Delete a provider credential; workers use it for {KNOWN_SECONDS:g} more seconds at most",
        access="admin",
        handler=delete,
        answers={200: credential_answers.Credential},
        errors=("not_found",),
    ),
)
