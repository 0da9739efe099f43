"""The state of each partition as the rules fold it from its log; what a decider holds in memory has to be that."""

from schemas.recorded import Recorded
from services.ledger.apply import apply
from services.ledger.digest import digest_of_state
from services.ledger.indexes import pop_due
from services.ledger.policy import SECOND
from services.ledger.record import digest_of
from services.ledger.state import Ledger
from tests.simulation.life import current
from tests.simulation.world import START_MICROS, World, policy

SKEW_SECONDS = 5.0  # by which the clock of no decider is ahead


class LogBroken(Exception):
    """A log that the rules cannot read: its run is over."""


class Folds:
    """Folds whatever stands in the logs."""

    def __init__(self, world: World) -> None:
        rules = policy(world.settings)
        self._world = world
        self._wrong: list[str] = []
        self.ledgers = {number: Ledger(number, rules) for number in range(world.settings.partitions)}
        self._told: dict[int, list[tuple[Recorded, bytes]]] = {number: [] for number in self.ledgers}

    def tell(self, recorded: Recorded, stored: bytes) -> None:
        """Go on by one event."""
        partition, digest = recorded.header.partition, digest_of(stored)
        self._told[partition].append((recorded, digest))
        try:
            apply(self.ledgers[partition], recorded, digest)
        except Exception as error:
            said = f"{partition}:{recorded.header.position} {recorded.header.event_type} cannot be folded: {error!r}"
            raise LogBroken(said) from error

    def at(self, partition: int, position: int) -> Ledger:
        """Return the state at an earlier position, with the jobs in line that were then."""
        ledger = Ledger(partition, policy(self._world.settings))
        for recorded, digest in self._told[partition][:position]:
            apply(ledger, recorded, digest)
        while pop_due(ledger, ledger.occurred_at):
            pass
        return ledger

    def compare(self, restored: Ledger) -> None:
        """Compare what a decider has read back, from a snapshot or from the start, unless others went on since."""
        folded = self.ledgers[restored.partition]
        if folded.position == restored.position and digest_of_state(restored) != digest_of_state(folded):
            self._wrong.append(f"{current()} restored another state of partition {folded.partition}, {folded.position}")

    def verdict(self) -> list[str]:
        """Compare what living deciders have in memory; one that is ahead of its log is left out."""
        return self._wrong + [
            f"{life} holds another state of partition {number} than its log up to {ledger.position}"
            for life, number, _, ledger in self._world.memories
            if life.alive and ledger.position == self.ledgers[number].position
            if self._settled(ledger) != self._settled(self.ledgers[number])
        ]

    def _settled(self, ledger: Ledger) -> bytes:
        """Return the digest of a state without the waits that are over: when they are looked at is not in the log.

        Whose turn it is depends on that too, for an org whose retry is due takes part in the round.
        """
        now = START_MICROS + int((self._world.loop.time() + SKEW_SECONDS) * SECOND)
        while pop_due(ledger, now):
            pass
        turns, ledger.turns = ledger.turns, {}
        digest = digest_of_state(ledger)
        ledger.turns = turns
        return digest
