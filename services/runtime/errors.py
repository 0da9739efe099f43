"""The errors of the runtime.

RuntimeFault
├── SettingsError      a setting is missing or unusable; names its key
├── LedgerUnavailable  no decider answered a command in time; the command may still take effect
├── LogGap             a record that had to be next is not there
├── Fenced             another writer owns this partition now; leave the process
└── DeadLetterLimit    too many records had to be parked; a person has to look
"""


class RuntimeFault(Exception):
    """Root of every error that the runtime raises."""


class SettingsError(RuntimeFault):
    """A setting is missing or unusable."""


class LedgerUnavailable(RuntimeFault):
    """No decider answered in time."""


class LogGap(RuntimeFault):
    """The log does not continue where it has to."""


class Fenced(RuntimeFault):
    """Another writer owns the partition."""


class DeadLetterLimit(RuntimeFault):
    """Dead-lettering was stopped before it parked everything."""
