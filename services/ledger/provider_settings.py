"""What each provider can honour of a service node's settings, and what an org signs in with there."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from services.ledger.countries import COUNTRY_NAMES
from services.ledger.workflow import Fault, OutputFormat, ServiceSettings

COUNTRY = re.compile(r"[A-Za-z]{2}")
VISIBLE = "1 to 512 visible ASCII characters"
SECRET_FORMS = {
    "apiKey": VISIBLE,
    "zone": VISIBLE,
    "username": f"{VISIBLE}, no colon",
    "password": "1 to 512 characters, no control characters",
}
SECRET = {
    "apiKey": re.compile(r"[!-~]{1,512}"),
    "zone": re.compile(r"[!-~]{1,512}"),
    "username": re.compile(r"[!-9;-~]{1,512}"),
    "password": re.compile(r"[^\x00-\x1f\x7f]{1,512}"),
}
ANY_COUNTRY: Collection[str] | None = None  # every code of two letters


@dataclass(frozen=True, slots=True)
class Honours:
    """One provider."""

    credential: tuple[str, ...] = ()  # fields; empty: none is needed
    country: bool = True
    countries: Collection[str] | None = ANY_COUNTRY
    render_js: bool = True
    headers: bool = True
    headers_rendered: Collection[str] | None = None  # names that a browser sends on; None: all
    session: bool = True
    output_formats: tuple[OutputFormat, ...] = ("html",)


PROVIDERS: dict[str, Honours] = {
    "direct": Honours(country=False, render_js=False, session=False, output_formats=("html", "json")),
    "brightdata": Honours(
        ("apiKey", "zone"), render_js=False, headers=False, session=False, output_formats=("html", "markdown")
    ),
    "oxylabs": Honours(("username", "password"), countries=COUNTRY_NAMES, output_formats=("html", "markdown")),
    "nimble": Honours(("username", "password"), session=False, output_formats=("html", "json", "markdown")),
    "zyte": Honours(("apiKey",), headers_rendered=("referer", "cookie")),
    "decodo": Honours(("username", "password"), countries=COUNTRY_NAMES, output_formats=("html", "markdown")),
}
PROVIDER_NAMES = tuple(PROVIDERS)
WITH_CREDENTIAL = tuple(name for name, honours in PROVIDERS.items() if honours.credential)


def unsupported(provider: str, settings: ServiceSettings) -> list[Fault]:
    """Return a fault for each setting that the provider cannot honour, its path within the settings; none is dropped.

    A provider that does not exist is somebody else's fault, and has none here.
    """
    honours = PROVIDERS.get(provider)
    return list(_faults(provider, honours, settings)) if honours else []


def credential_fault(provider: str, secret: Mapping[str, str]) -> str | None:
    """Return what is wrong with a credential, without quoting any of it; None: it can be kept."""
    honours = PROVIDERS.get(provider)
    if honours is None or not honours.credential:
        return f"no provider with a credential is called so: use {', '.join(WITH_CREDENTIAL)}"
    if set(secret) != set(honours.credential):
        return f"{provider} takes {' and '.join(honours.credential)}, and nothing else"
    for name in honours.credential:
        if not SECRET[name].fullmatch(secret[name]):
            return f"{name} is not of a form that can be sent: {SECRET_FORMS[name]}"
    return None


def _faults(provider: str, honours: Honours, settings: ServiceSettings) -> Iterator[Fault]:
    if settings.country:
        yield from _country(provider, honours, settings.country.upper())
    if settings.render_js and not honours.render_js:
        yield _fault("renderJs", f"{provider} cannot be told to render: leave it out, or use {_able('render_js')}")
    if settings.session and not honours.session:
        yield _fault("session", f"{provider} keeps no sessions: leave it out, or use {_able('session')}")
    if settings.output_format not in honours.output_formats:
        formats = ", ".join(honours.output_formats)
        yield _fault("outputFormat", f"{provider} does not give {settings.output_format}: use {formats}")
    if settings.headers and not honours.headers:
        yield _fault("headers", f"{provider} sends headers of its own: leave them out, or use {_able('headers')}")
    if settings.render_js and honours.headers_rendered is not None:
        for name in settings.headers:
            if name.lower() not in honours.headers_rendered:
                names = ", ".join(honours.headers_rendered)
                yield _fault(f"headers.{name}", f"{provider} sends only {names} where it renders: leave out {name!r}")


def _country(provider: str, honours: Honours, country: str) -> Iterator[Fault]:
    if not honours.country:
        yield _fault("country", f"{provider} asks from where it is: leave it out, or use {_able('country')}")
    elif not COUNTRY.fullmatch(country):
        yield _fault("country", f"{country[:32]!r} is not a country: two letters of ISO 3166, such as NL")
    elif honours.countries is not None and country not in honours.countries:
        yield _fault("country", f"{provider} wants the name of a country, and that of {country} is not known here")


def _fault(path: str, message: str) -> Fault:
    return Fault(path, "not_honoured", message)


def _able(setting: str) -> str:
    return ", ".join(name for name, honours in PROVIDERS.items() if getattr(honours, setting))
