"""ClickHouse's errors: their codes, and the HTTP status that goes with a code."""

import re

UNKNOWN_EXCEPTION = 1002
NOT_IMPLEMENTED = 48
CANNOT_DECOMPRESS = 354
SESSION_IS_LOCKED = 373
SESSION_NOT_FOUND = 372
NAMES = {
    UNKNOWN_EXCEPTION: "UNKNOWN_EXCEPTION",
    NOT_IMPLEMENTED: "NOT_IMPLEMENTED",
    CANNOT_DECOMPRESS: "CANNOT_DECOMPRESS",
    SESSION_IS_LOCKED: "SESSION_IS_LOCKED",
    SESSION_NOT_FOUND: "SESSION_NOT_FOUND",
}
SAID = re.compile(r"Code: (\d+)\.")
NOT_FOUND = (46, 47, 60, 81, 115, SESSION_NOT_FOUND)  # function, column, table, database, setting, session
BAD_REQUEST = (6, 26, 27, 53, 62)  # what cannot be parsed or converted
STATUS = dict.fromkeys(NOT_FOUND, 404) | dict.fromkeys(BAD_REQUEST, 400) | {NOT_IMPLEMENTED: 501}


class EngineFault(Exception):
    """A refusal in ClickHouse's words, with its code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"Code: {code}. DB::Exception: {message}. ({NAMES[code]})")


def code_of(message: str) -> int:
    """Return the code that an error of the engine names."""
    said = SAID.search(message)
    return int(said[1]) if said else UNKNOWN_EXCEPTION


def status_of(code: int) -> int:
    """Return the HTTP status that a server answers with an error of this code."""
    return STATUS.get(code, 500)
