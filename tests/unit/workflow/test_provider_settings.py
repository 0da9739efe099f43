"""Settings that a provider cannot honour are faults of the workflow, each named."""

from typing import Any

import msgspec
import pytest

from services.ledger.provider_settings import PROVIDER_NAMES, PROVIDERS, WITH_CREDENTIAL, credential_fault, unsupported
from services.ledger.workflow import ServiceSettings, WorkflowInvalid
from services.ledger.workflow_reading import document_from
from tests.unit.workflow.documents import encoded, good_document


def paths(provider: str, **settings: Any) -> list[str]:
    found = unsupported(provider, ServiceSettings(provider=provider, **settings))
    assert all(
        (fault.code == "not_honoured" and provider in fault.message) or "two letters" in fault.message
        for fault in found
    )
    return [fault.path for fault in found]


@pytest.mark.parametrize("provider", PROVIDER_NAMES)
def test_every_provider_takes_a_node_that_says_nothing_special(provider: str) -> None:
    assert paths(provider, retries=9, timeout_seconds=100) == []


@pytest.mark.parametrize(
    ("provider", "settings", "faults"),
    [
        ("direct", {"country": "NL", "render_js": True, "session": "s"}, ["country", "renderJs", "session"]),
        ("direct", {"output_format": "json", "headers": {"A": "b"}}, []),
        ("direct", {"output_format": "markdown"}, ["outputFormat"]),
        ("brightdata", {"render_js": True, "session": "s", "headers": {"A": "b"}}, ["renderJs", "session", "headers"]),
        ("brightdata", {"country": "nl", "output_format": "markdown"}, []),
        ("oxylabs", {"country": "nl", "render_js": True, "session": "s", "headers": {"A": "b"}}, []),
        ("oxylabs", {"country": "XK", "output_format": "json"}, ["country", "outputFormat"]),
        ("nimble", {"session": "s", "country": "XK", "output_format": "json"}, ["session"]),
        ("zyte", {"country": "XK", "session": "s", "headers": {"A": "b"}}, []),
        ("zyte", {"render_js": True, "headers": {"Referer": "r", "Cookie": "c", "A": "b"}}, ["headers.A"]),
        ("decodo", {"country": "xk"}, ["country"]),
        ("zyte", {"country": "Netherlands"}, ["country"]),
        ("carrier-pigeon", {"country": "NL"}, []),
    ],
)
def test_what_a_provider_cannot_honour_is_named(provider: str, settings: dict[str, Any], faults: list[str]) -> None:
    assert paths(provider, **settings) == faults


@pytest.mark.parametrize("provider", PROVIDER_NAMES)
def test_no_provider_gives_text_yet(provider: str) -> None:
    assert paths(provider, output_format="text") == ["outputFormat"]


def test_the_fault_stands_at_its_place_in_the_document() -> None:
    document = good_document()
    document["nodes"][1]["settings"] = {"provider": "nimble", "session": "s"}
    with pytest.raises(WorkflowInvalid) as invalid:
        document_from(encoded(document))
    [fault] = invalid.value.faults
    assert (fault.path, fault.code) == ("nodes[1].settings.session", "not_honoured")
    assert "oxylabs, zyte, decodo" in fault.message


@pytest.mark.parametrize("provider", PROVIDER_NAMES)
def test_every_provider_can_be_named_in_a_document(provider: str) -> None:
    document = good_document()
    document["nodes"][1]["settings"] = {"provider": provider}
    assert msgspec.json.decode(msgspec.json.encode(document_from(encoded(document))))["nodes"][1]["settings"]


def test_all_but_direct_need_a_credential() -> None:
    assert set(PROVIDERS) - set(WITH_CREDENTIAL) == {"direct"}


@pytest.mark.parametrize(
    ("provider", "secret", "said"),
    [
        ("zyte", {"apiKey": "abc-def"}, None),
        ("brightdata", {"apiKey": "abc", "zone": "web_unlocker1"}, None),
        ("oxylabs", {"username": "u", "password": "p\u00e4ss w:rd"}, None),
        ("direct", {"apiKey": "s3cr3t"}, "no provider with a credential"),
        ("pigeon", {"apiKey": "s3cr3t"}, "no provider with a credential"),
        ("zyte", {}, "takes apiKey"),
        ("zyte", {"apiKey": "x", "s3cr3t": "y"}, "nothing else"),
        ("decodo", {"username": "u"}, "username and password"),
        ("zyte", {"apiKey": "s3cr3t\r\nX: y"}, "visible ASCII"),
        ("zyte", {"apiKey": ""}, "visible ASCII"),
        ("nimble", {"username": "s3cr3t:x", "password": "p"}, "no colon"),
        ("nimble", {"username": "u", "password": "s3cr3t\n"}, "control characters"),
        ("nimble", {"username": "u", "password": "s3cr3t" * 100}, "1 to 512"),
    ],
)
def test_a_credential_that_cannot_be_sent_is_refused_without_being_quoted(
    provider: str, secret: dict[str, str], said: str | None
) -> None:
    fault = credential_fault(provider, secret)
    if said is None:
        assert fault is None
    else:
        assert fault is not None
        assert said in fault
        assert "s3cr3t" not in fault
