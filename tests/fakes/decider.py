"""A decider that decides nothing: it answers commands on a real broker with a function."""

import threading
from types import TracebackType

from services.ledger.commands import AnyCommand
from services.ledger.replies import Reply
from services.ledger.wire import COMMANDS, REPLIES
from services.runtime.producer import Producer
from services.runtime.reader import LogReader
from services.runtime.settings import Settings
from services.runtime.topics import commands, replies, reply_partition
from tests.fakes.commander import Answer, Body

JOIN_SECONDS = 20


class AnsweringDecider:
    """Within its `with` block it answers every command of every partition; `commands` holds those it has seen."""

    def __init__(self, settings: Settings, answer: Answer) -> None:
        self.commands: list[tuple[int, AnyCommand]] = []
        self._settings = settings
        self._answer = answer
        self._producer = Producer(settings, "answering")
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._error: Exception | None = None

    def __enter__(self) -> "AnsweringDecider":
        self._producer.start()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join(JOIN_SECONDS)
        self._producer.close()
        if self._error:
            raise self._error

    def reply(self, reply: Reply) -> None:
        """Send a reply, asked for or not."""
        partition = reply_partition(reply.requester)
        self._producer.produce(replies(self._settings), partition, reply.requester, REPLIES.encode(reply))

    def say(self, requester: str, body: Body) -> None:
        """Send a reply that nobody asked for."""
        self.reply(Reply(command_id="", requester=requester, body=body))

    def _run(self) -> None:
        starts = dict.fromkeys(range(self._settings.partitions), 0)
        reader = LogReader(self._settings, commands(self._settings), starts)
        try:
            while not self._stopping.is_set():
                for record in reader.poll(1000, 0.1):
                    command = COMMANDS.decode(record.value)
                    self.commands.append((record.partition, command))
                    body = self._answer(record.partition, command)
                    if body is not None:
                        self.reply(Reply(command_id=command.command_id, requester=command.requester, body=body))
        except Exception as error:
            self._error = error
        finally:
            reader.close()
