"""What can go wrong between the command line and the API; each message says what to do next.

CliFault
├── NoKey        no key says who calls
├── ApiRefused   the API answered with an error; `code` is one of docs/errors.md
└── ApiSilent    nobody answers, or whoever answers cannot right now
"""


class CliFault(Exception):
    """Root of the errors of the command line."""


class NoKey(CliFault):
    """No key says who calls."""


class ApiRefused(CliFault):
    """The API answered with an error."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.status = status
        self.code = code


class ApiSilent(CliFault):
    """Nobody answers, or whoever answers cannot right now."""
