"""Settings as the environment of a process, for those that tests start."""

from dataclasses import fields

from services.runtime.settings import Settings


def environ_of(settings: Settings) -> dict[str, str]:
    """Return every setting as its variable: what reads them makes the same settings of it."""
    return {f"JOBLEDGER_{field.name.upper()}": _text(getattr(settings, field.name)) for field in fields(settings)}


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
