"""An Asker whose decider is a function."""

from collections.abc import Callable

from services.ledger.commands import AnyCommand
from services.ledger.replies import Done, Drop, Granted, Refused, Reply
from services.runtime.errors import LedgerUnavailable

Body = Done | Granted | Refused | Drop
Answer = Callable[[int, AnyCommand], Body | None]  # partition and command to the reply's body; None: no reply ever


class FakeCommander:
    """Keeps every command in `commands` and answers with `answer` at once."""

    def __init__(self, answer: Answer = lambda _partition, _command: Done(), boot_id: str = "fake-boot") -> None:
        self.boot_id = boot_id
        self.commands: list[tuple[int, AnyCommand]] = []
        self._answer = answer
        self._callbacks: list[Callable[[Reply], None]] = []

    async def tell(self, partition: int, command: AnyCommand) -> None:
        """Keep the command."""
        self.commands.append((partition, command))

    async def ask(
        self,
        partition: int,
        command: AnyCommand,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Reply:
        """Keep the command and return its answer."""
        if command.requester != self.boot_id:
            raise ValueError(f"command {command.command_id} names another requester")
        await self.tell(partition, command)
        body = self._answer(partition, command)
        if body is None:
            raise LedgerUnavailable(f"the decider of partition {partition} did not answer within {timeout} s")
        return Reply(command_id=command.command_id, requester=self.boot_id, body=body, partition=partition)

    def on_unasked(self, callback: Callable[[Reply], None]) -> None:
        """Call back with what `say` says."""
        self._callbacks.append(callback)

    def say(self, body: Body, partition: int = 0) -> None:
        """Send a reply that nobody asked for."""
        for callback in self._callbacks:
            callback(Reply(command_id="", requester=self.boot_id, body=body, partition=partition))
