"""The commands of one partition, in order; what is no command of one of its orgs is dead-lettered."""

from collections.abc import Iterator

from services.decider.admission import fault_of
from services.ledger.commands import AnyCommand, ClaimTask, RegisterOrg
from services.ledger.replies import Refused, Reply
from services.ledger.state import Ledger
from services.ledger.wire import COMMANDS, BadMessage
from services.runtime import topics
from services.runtime.dead_letter import Park
from services.runtime.ends import Ends
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings

BUSY_RECORDS = 50
GATHER_SECONDS = 0.005
Accepted = tuple[int, AnyCommand]  # offset of the command, and the command


class Inbox:
    """Reads commands from the first one that the log has not decided yet; `ends` asks about their topic."""

    def __init__(self, settings: Settings, partition: int, ledger: Ledger, park: Park, ends: Ends) -> None:
        self._settings, self._partition, self._ledger = settings, partition, ledger
        self._park = park
        self._ends = ends
        self._busy = False
        self._waiting: list[Record] = []
        self.parked = 0  # since the log last said how far commands are decided
        self._refused: list[Reply] = []
        self._newest: Record | None = None  # the record of the command that `poll` yielded last
        self.next_offset = ledger.cause + 1
        self._reader = LogReader(settings, topics.commands(settings), {partition: self.next_offset}, gathering=True)

    def wait(self, most: int, timeout_seconds: float) -> None:
        """Wait at most this long for the next command; after a busy batch a moment longer for more (ADR 1)."""
        self._waiting = self._reader.poll(most, timeout_seconds)
        if self._busy and 0 < len(self._waiting) < most:
            self._waiting += self._reader.poll(most - len(self._waiting), GATHER_SECONDS)

    def poll(self, most: int) -> Iterator[Accepted]:
        """Yield what has come by now.

        Whether a command belongs here is asked when its turn comes: the one before may register its org.
        """
        for record in self._read(most):
            command = self._accept(record)
            self.next_offset, self._newest = record.offset + 1, record
            if command is not None:
                yield record.offset, command

    def _read(self, most: int) -> list[Record]:
        records, self._waiting = self._waiting, []
        if len(records) < most:
            records += self._reader.poll(most - len(records), 0)
        self._busy = len(records) >= BUSY_RECORDS
        return records

    def end(self) -> int:
        """Return the offset behind the last command that the broker holds; raises BrokerFault where it is silent."""
        if self._settings.broker == "tansu":  # its end offsets are wrong
            return self.next_offset + (not self._reader.at_end())
        return self._ends.of_one(self._partition)

    def turn_away(self, reason: str, detail: str) -> None:
        """Dead-letter the command that `poll` yielded last: it cannot be decided now, and nobody waits to repeat it."""
        assert self._newest is not None
        self._park(self._newest, reason, detail)
        self.parked += 1

    def take_refused(self) -> list[Reply]:
        """Return the answers to claims that were parked: a worker would hold a slot and ask for ever."""
        refused, self._refused = self._refused, []
        return refused

    def close(self) -> None:
        """Leave the broker."""
        self._reader.close()

    def _accept(self, record: Record) -> AnyCommand | None:
        try:
            command = COMMANDS.decode(record.value)
        except BadMessage as error:
            self._refuse(record, "bad_message", str(error))
            return None
        if command.org_id != record.key or not (self._known(command) or isinstance(command, RegisterOrg)):
            self._refuse(record, "foreign_org", f"{type(command).__name__} of an org that is not here", command)
            return None
        fault = fault_of(command, len(record.value))
        if fault:
            self._refuse(record, "unusable_command", f"{type(command).__name__}: {fault}", command)
            return None
        return command

    def _refuse(self, record: Record, reason: str, detail: str, command: AnyCommand | None = None) -> None:
        self._park(record, reason, detail)
        self.parked += 1
        if isinstance(command, ClaimTask) and command.requester:
            refused = Refused(code=reason, message=detail)
            self._refused.append(Reply(command_id=command.command_id, requester=command.requester, body=refused))

    def _known(self, command: AnyCommand) -> bool:
        return not command.org_id or command.org_id in self._ledger.orgs
