"""What keeps a rebuild from its end.

RebuildFault
├── AnotherRebuild   one is under way already
├── LogTooShort      the log does not reach as far as the version in use
├── NoSuchPosition   a position that was asked for, and that the version in use does not have
├── CannotCatchUp    the new version never comes close enough to take the place of the other
└── Stopped          it was told to stop
"""

from services.runtime.errors import RuntimeFault


class RebuildFault(RuntimeFault):
    """Root of what keeps a rebuild from its end; the version in use stays as it was."""


class AnotherRebuild(RebuildFault):
    """Only one rebuild of a read model may be under way."""


class LogTooShort(RebuildFault):
    """The log ends before a position that the version in use has."""


class NoSuchPosition(RebuildFault):
    """The version in use does not have that position."""


class CannotCatchUp(RebuildFault):
    """The log grows faster than it can be folded."""


class Stopped(RebuildFault):
    """It was told to stop; the next one goes on from here."""
