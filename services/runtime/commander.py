"""Sends commands to the deciders and brings back their replies."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from services.ledger.commands import AnyCommand
from services.ledger.replies import Reply
from services.ledger.wire import COMMANDS, REPLIES, BadMessage
from services.runtime.dead_letter import Park, parking_from_threads
from services.runtime.dead_letter_topic import dead_letters_of
from services.runtime.ends import committed_end, first_offsets
from services.runtime.errors import LedgerUnavailable, NotDelivered
from services.runtime.ids import uuid7
from services.runtime.metrics import count, timed
from services.runtime.producer import Producer
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from services.runtime.topics import commands, replies, reply_partition

log = logging.getLogger(__name__)
SENDS = 3  # of one command before its asker gives up; commands are safe to repeat
POLL_SECONDS = 0.2
POLL_RECORDS = 500
Unasked = Callable[[Reply], None]


class Asker(Protocol):
    """Where commands go."""

    boot_id: str

    async def tell(self, partition: int, command: AnyCommand) -> None:
        """Return when the broker has the command; whether it took effect is not known then."""

    async def ask(
        self,
        partition: int,
        command: AnyCommand,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Reply:
        """Return the decider's reply; raise LedgerUnavailable when none comes in time."""

    def on_unasked(self, callback: Unasked) -> None:
        """Call back, in the event loop, with every reply that no command asked for."""


class Commander:
    """Asks the deciders, from one event loop; `boot_id` is unique per start and goes into `requester`."""

    def __init__(self, settings: Settings, name: str) -> None:
        self.boot_id = f"{name}-{uuid7()}"
        self._settings = settings
        self._producer = Producer(settings, name)
        self._dead_letters = dead_letters_of(settings, self._producer)
        self._asked: dict[str, list[asyncio.Future[Reply]]] = {}
        self._callbacks: list[Unasked] = []
        self._stopping = threading.Event()
        self._listener: threading.Thread | None = None
        self._over: asyncio.Future[None] | None = None  # done when it listens no more

    async def start(self) -> None:
        """Begin to listen: every reply to a command sent from here on is heard. Raises BrokerFault without Kafka."""
        loop = asyncio.get_running_loop()
        reader = await asyncio.to_thread(self._open)
        self._over = loop.create_future()
        self._producer.start()
        self._listener = threading.Thread(
            target=self._listen, args=(reader, loop), name=f"{self.boot_id}-replies", daemon=True
        )
        self._listener.start()

    async def close(self) -> None:
        """Fail the asks that are still open, deliver what was told, and stop listening."""
        self._end(LedgerUnavailable("the commander was closed before the reply came; the command may take effect"))
        self._stopping.set()
        if self._listener:
            await asyncio.to_thread(self._listener.join)
            await asyncio.to_thread(self._producer.close)

    async def wait(self) -> None:
        """Return when closed; raise what ended the listening otherwise. For the process's group of tasks."""
        assert self._over, "start() first"
        try:
            await asyncio.shield(self._over)
        except LedgerUnavailable:
            if not self._stopping.is_set():
                raise

    async def tell(self, partition: int, command: AnyCommand) -> None:
        """Return when the broker has the command; whether it took effect is not known then."""
        await self._producer.send(commands(self._settings), partition, command.org_id, COMMANDS.encode(command))

    async def ask(
        self,
        partition: int,
        command: AnyCommand,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Reply:
        """Return the decider's reply; `command.requester` must be `boot_id`.

        Sends the command again after each third of `timeout` seconds (default: reply_timeout_seconds), and raises
        LedgerUnavailable at the end: the command may still take effect then, and repeating it is safe.
        """
        if command.requester != self.boot_id:
            raise ValueError(f"command {command.command_id} names another requester: pass requester=commander.boot_id")
        seconds = self._settings.reply_timeout_seconds if timeout is None else timeout
        answer = self._expect(command.command_id)
        began = time.monotonic()
        try:
            for _ in range(SENDS):
                reply = await self._one_try(partition, command, answer, seconds / SENDS)
                if reply:
                    timed("reply_seconds", time.monotonic() - began, command=type(command).__name__)
                    return reply
        finally:
            self._forget(command.command_id, answer)
        raise LedgerUnavailable(
            f"the decider of partition {partition} did not answer command {command.command_id} within {seconds:g} s: "
            "is it running? The command may still take effect; asking again is safe"
        )

    def on_unasked(self, callback: Unasked) -> None:
        """Call back, in the event loop, with every reply that no command asked for."""
        self._callbacks.append(callback)

    async def _one_try(
        self, partition: int, command: AnyCommand, answer: asyncio.Future[Reply], seconds: float
    ) -> Reply | None:
        try:
            async with asyncio.timeout(seconds):
                await self.tell(partition, command)
                return await asyncio.shield(answer)
        except TimeoutError:
            count("commands_resent")
        except NotDelivered as fault:
            log.warning("command not delivered, sending it again", extra={"reason": str(fault)})
        return answer.result() if answer.done() else None

    def _expect(self, command_id: str) -> asyncio.Future[Reply]:
        assert self._over, "start() first"
        if self._over.done():
            self._over.result()
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._asked.setdefault(command_id, []).append(answer)
        return answer

    def _forget(self, command_id: str, answer: asyncio.Future[Reply]) -> None:
        if not answer.cancel():
            answer.exception()  # looked at, also where the asker was cancelled
        waiting = self._asked.get(command_id, [])
        if answer in waiting:
            waiting.remove(answer)
        if not waiting:
            self._asked.pop(command_id, None)

    def _heard(self, heard: list[Reply]) -> None:
        for reply in heard:
            if reply.command_id:
                for answer in self._asked.pop(reply.command_id, []):
                    if not answer.done():
                        answer.set_result(reply)
            else:
                try:
                    for callback in self._callbacks:
                        callback(reply)
                except Exception as error:
                    self._end(error)

    def _end(self, error: Exception) -> None:
        """Listen no more: whoever waits, now or later, gets this error."""
        if self._over and not self._over.done():
            self._over.set_exception(error)
            self._over.exception()  # nobody has to look at it
        for answers in self._asked.values():
            for answer in answers:
                if not answer.done():
                    answer.set_exception(error)
        self._asked.clear()

    def _open(self) -> LogReader:
        topic, partition = replies(self._settings), reply_partition(self.boot_id)
        # Tansu's end offsets are wrong: there, hear the hour of replies that it holds and take what is ours.
        where = first_offsets if self._settings.broker == "tansu" else committed_end
        return LogReader(self._settings, topic, where(self._settings, topic, [partition]), following=True)

    def _listen(self, reader: LogReader, loop: asyncio.AbstractEventLoop) -> None:
        """Run in the thread: hand the replies meant for us to the event loop, a batch at a time."""
        park = parking_from_threads(self._dead_letters, loop)
        try:
            while not self._stopping.is_set():
                heard = [
                    reply
                    for record in reader.poll(POLL_RECORDS, POLL_SECONDS)
                    if (reply := self._addressed(record, park))
                ]
                if heard:
                    loop.call_soon_threadsafe(self._heard, heard)
        except Exception as error:
            log.exception("listening for replies ended")
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._end, error)
        finally:
            reader.close()

    def _addressed(self, record: Record, park: Park) -> Reply | None:
        """Return a reply to us; what others are told is not read here, and what is no reply to us is parked."""
        if record.key != self.boot_id:
            return None
        try:
            reply = REPLIES.decode(record.value)
        except BadMessage as error:
            park(record, "bad_message", str(error))
            return None
        if reply.requester == self.boot_id:
            return reply
        park(record, "foreign_org", f"a reply to {reply.requester}, under the key of another")
        return None
