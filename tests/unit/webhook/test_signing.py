"""Signatures, verified from outside by the library of Standard Webhooks."""

import base64
import json
import time

import msgspec
import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from schemas.values import After
from services.writers.webhook.payload import Where, body_of, message_id
from services.writers.webhook.signing import PREFIX, headers_of, new_secret
from tests.unit.writers.fakes import delivery

AWKWARD = [
    "\U0001f600 emoji",
    "line\u2028separator\u2029",
    1e20,
    0.1,
    -0.0,
    12345678901234567890,
    'a/b </script> & "quoted" \\ tab\t',
    {"": {"a": {}, "b": []}, "ключ": [[], {}, None]},
    "\u0000 nul as an escape",
    "e\u0301 composed apart",
]


def signed(body: bytes, *secrets: str) -> dict[str, str]:
    return headers_of("msg_1", int(time.time()), body, secrets)


@pytest.mark.parametrize("value", AWKWARD, ids=repr)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_every_awkward_value_verifies_over_exactly_the_bytes_that_are_sent(value: object, ascii_only: bool) -> None:
    secret = new_secret()
    extraction = json.dumps({"normalized": {"value": value}}, ensure_ascii=ascii_only).encode()
    body = body_of(delivery(after=After.COMPLETED), extraction, Where())
    verified = Webhook(secret).verify(body, signed(body, secret))
    assert verified["data"]["extraction"] == {"value": value}


def test_the_extraction_is_sent_as_it_is_stored_not_written_anew() -> None:
    extraction = b'{"normalized": {"price": 1e20, "small":0.10, "name": "\\u00e9\\/"}}'
    body = body_of(delivery(), extraction, Where())
    assert b'{"price": 1e20, "small":0.10, "name": "\\u00e9\\/"}' in body


def test_a_changed_byte_another_id_and_another_secret_are_refused() -> None:
    secret = new_secret()
    body = body_of(delivery(), b"", Where())
    headers = signed(body, secret)
    for wrong_body, wrong_headers, wrong_secret in (
        (body.replace(b"job-1", b"job-2"), headers, secret),
        (body, {**headers, "webhook-id": "msg_2"}, secret),
        (body, headers, new_secret()),
    ):
        with pytest.raises(WebhookVerificationError):
            Webhook(wrong_secret).verify(wrong_body, wrong_headers)


def test_after_a_rotation_either_secret_verifies() -> None:
    new, former = new_secret(), new_secret()
    body = body_of(delivery(), b"", Where())
    headers = signed(body, new, former)
    assert len(headers["webhook-signature"].split(" ")) == 2
    for secret in (new, former):
        Webhook(secret).verify(body, headers)


def test_secrets_have_the_standard_form_and_are_never_the_same() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(len(base64.b64decode(secret.removeprefix(PREFIX))) == 32 for secret in secrets)


def test_an_id_is_the_same_for_each_try_and_another_for_each_endpoint_and_event() -> None:
    one = delivery(destination_id="wh-1:job.completed", after=After.COMPLETED)
    assert message_id(one) == message_id(msgspec.structs.replace(one, try_number=7, generation=2))
    others = [
        msgspec.structs.replace(one, destination_id="wh-1"),
        msgspec.structs.replace(one, destination_id="wh-2:job.completed"),
        msgspec.structs.replace(one, job_id="job-2"),
        msgspec.structs.replace(one, org_id="org-2"),
        msgspec.structs.replace(one, ended_at=one.ended_at + 1),
    ]
    assert len({message_id(each) for each in (one, *others)}) == 6
