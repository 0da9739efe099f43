"""The errors of the local stack; each message says what to do next.

StackFault
├── BrokerUnavailable    the broker that was asked for cannot be had here
├── PostgresUnavailable  no Postgres can be started here
├── StartFailed          a process ended, or was not ready in time; names its log
└── StackBusy            another supervisor holds this stack directory
"""


class StackFault(Exception):
    """Root of every error that the local stack raises."""


class BrokerUnavailable(StackFault):
    """The broker that was asked for cannot be had here."""


class PostgresUnavailable(StackFault):
    """No Postgres can be started here."""


class StartFailed(StackFault):
    """A process ended or was not ready in time."""


class StackBusy(StackFault):
    """Another supervisor holds the stack directory."""
