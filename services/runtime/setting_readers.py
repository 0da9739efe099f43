"""Readers of settings: from the text of a variable to a value, or a SettingsError that names it."""

from collections.abc import Callable
from typing import Literal, cast

from services.runtime.errors import SettingsError
from services.runtime.networks import Networks, networks_of

BrokerKind = Literal["apache-kafka", "tansu", "external"]


def _text(_key: str, text: str) -> str:
    return text


def _integer(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SettingsError(f"{key} takes a whole number") from None


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"{key} takes a number") from None


def _switch(key: str, text: str) -> bool:
    if text.lower() not in ("1", "0", "true", "false"):
        raise SettingsError(f"{key} takes true or false")
    return text.lower() in ("1", "true")


def _networks(key: str, text: str) -> Networks:
    try:
        return networks_of(text)
    except ValueError as error:
        raise SettingsError(f"{key} takes networks, comma-separated: {error}") from None


def _broker(key: str, text: str) -> BrokerKind:
    if text not in ("apache-kafka", "tansu", "external"):
        raise SettingsError(f"{key} takes apache-kafka, tansu or external")
    return cast(BrokerKind, text)


READERS: dict[object, Callable[[str, str], object]] = {
    str: _text,
    int: _integer,
    float: _number,
    bool: _switch,
    BrokerKind: _broker,
    Networks: _networks,
}
