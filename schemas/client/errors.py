"""The errors of the client.

ConsumerFault
├── KafkaFault     Kafka answers with an error that waiting does not cure
├── RegistryAway   the schema registry does not answer now; the next poll goes on with the same record
└── BadCheckpoint  the text is no checkpoint

Beside them come those of the rule of the log (`schemas.strangers`): EventsMissing stops a reader for good, SchemaLost
waits as RegistryAway does.
"""


class ConsumerFault(Exception):
    """Root of the errors of the client."""


class KafkaFault(ConsumerFault):
    """Kafka answers with an error that waiting does not cure."""


class RegistryAway(ConsumerFault):
    """The schema registry does not answer now."""


class BadCheckpoint(ConsumerFault, ValueError):
    """The text is no checkpoint."""
