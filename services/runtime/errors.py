"""The errors of the runtime.

RuntimeFault
├── SettingsError      a setting is missing or unusable; names its key
├── BrokerFault        Kafka answered with an error that waiting does not cure, or did not answer at all
│   ├── RecordRefused  Kafka will never take this record: too large, no such topic or partition, not allowed
│   └── NotDelivered   Kafka did not acknowledge a record in time; it may be there all the same
├── RegistryFault      the schema registry refuses a schema, or does not know it
│   └── RegistryAway   it does not answer now
├── LedgerUnavailable  no decider answered a command in time; the command may still take effect
├── LogGap             a record that had to be next is not there
├── Fenced             another writer owns this partition now; leave the process
├── BlobFault          the blob store refused or failed
│   └── BlobMissing    no blob has this key
├── CredentialsAway    where credentials are kept does not answer
├── KeysAway           where the keys of jobs are kept does not answer, or this process may not open them
├── Unsealable         no key opens what was sealed, or it is not what it should be
├── MigrationFault     a migration is misnamed, out of order, or was edited after it had been applied
└── DeadLetterLimit    too many records had to be parked; a person has to look
"""


class RuntimeFault(Exception):
    """Root of every error that the runtime raises."""


class SettingsError(RuntimeFault):
    """A setting is missing or unusable."""


class BrokerFault(RuntimeFault):
    """Kafka answered with an error that waiting does not cure, or did not answer at all."""


class RecordRefused(BrokerFault):
    """Kafka will never take this record."""


class NotDelivered(BrokerFault):
    """Kafka did not acknowledge a record in time."""


class RegistryFault(RuntimeFault):
    """The schema registry refuses a schema, or does not know it."""


class RegistryAway(RegistryFault):
    """The schema registry does not answer now."""


class LedgerUnavailable(RuntimeFault):
    """No decider answered in time."""


class LogGap(RuntimeFault):
    """The log does not continue where it has to."""


class Fenced(RuntimeFault):
    """Another writer owns the partition."""


class BlobFault(RuntimeFault):
    """The blob store refused or failed."""


class BlobMissing(BlobFault):
    """No blob has this key."""


class CredentialsAway(RuntimeFault):
    """Where credentials are kept does not answer."""


class KeysAway(RuntimeFault):
    """Keys of jobs are not to be had now; whether there are any is not known."""


class Unsealable(RuntimeFault):
    """No key opens what was sealed, or it is not what it should be."""


class MigrationFault(RuntimeFault):
    """A migration is misnamed, out of order, or was edited after it had been applied."""


class DeadLetterLimit(RuntimeFault):
    """Dead-lettering was stopped before it parked everything."""
