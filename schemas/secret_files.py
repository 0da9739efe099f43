"""Settings that may lie in files: where NAME is secret, NAME_FILE names a file that holds it."""

from collections.abc import Iterable, Mapping
from pathlib import Path


def with_files(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the environment in which what files hold is said outright, without a line break at the end of a file.

    ValueError names the setting, and never what a file holds. An empty NAME_FILE is not set.
    """
    read = dict(environ)
    for name in names:
        file = read.pop(f"{name}_FILE", "")
        if not file:
            continue
        if read.get(name):
            raise ValueError(f"{name} and {name}_FILE are both set: leave one of them out")
        read[name] = content_of(f"{name}_FILE", file)
    return read


def content_of(name: str, file: str) -> str:
    """Return the text of a file that a setting names, without line breaks at its end."""
    try:
        return Path(file).read_text("utf-8").rstrip("\r\n")
    except (OSError, UnicodeError) as error:
        raise ValueError(f"{name} names a file that cannot be read: {_why(error)}") from None


def _why(error: OSError | UnicodeError) -> str:
    return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else "it is no UTF-8"
