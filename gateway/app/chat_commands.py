"""Runs commands of the page in the process that works on their chat, and brings the answers back."""

import asyncio

import structlog
from pydantic import BaseModel

from agent_core.background import Background, set_within
from agent_core.clock import Clock
from channels.base import ChatKey, CommandInvoked, OutboundMessage
from gateway.chat.replies import Again, Answer, Once, Quoting, Rewritten, Said, Settling, Unfolded
from gateway.chat.sessions import Sessions
from gateway.cluster.protocols import Dispatcher
from gateway.commands.command import CommandTable
from gateway.delivery.delivery import Delivery
from gateway.delivery.sending import Right
from gateway.store.page_commands import PageCommands
from gateway.store.writer import may_pass

WITHIN = 20.0
"""Seconds for an answer from another process."""
ASK_EVERY = 2.0
"""Seconds after which a command is offered again, as its chat may have another process."""

log = structlog.get_logger(__name__)


class NoAnswer(Exception):
    """There is no answer to a command. The message is the key of a text."""


class NoAnswerInTime(NoAnswer):
    """Another process has not answered; it may have run the command."""


class _Reply(BaseModel, defer_build=True):
    """An answer on its way from one process to another."""

    message: OutboundMessage | None = None
    refused: str = ""
    """Key of the reason why there is no answer."""


class ChatCommands:
    """Runs commands that come from elsewhere than their chat."""

    def __init__(
        self,
        commands: CommandTable,
        sessions: Sessions,
        delivery: Delivery,
        rows: PageCommands,
        dispatcher: Dispatcher,
        *,
        clock: Clock,
    ) -> None:
        self._dispatcher = dispatcher
        self._commands = commands
        self._sessions = sessions
        self._delivery = delivery
        self._sending = delivery.sending
        self._rows = rows
        self._clock = clock
        self.background = Background("a command of another process failed")
        self._waiting: dict[str, asyncio.Event] = {}
        """Set when the answer to a command of this process may be there."""

    def knows(self, chat: ChatKey) -> bool:
        """Return True if the chat's platform is connected."""
        return self._delivery.knows(chat)

    async def run(self, command: CommandInvoked) -> OutboundMessage | None:
        """Run a command in its chat, by whatever process works on that. Raises NoAnswer."""
        if await self._sending.right(command.chat) is not Right.REMOTE:
            return await self._run(command)
        answered = self._waiting[command.event_id] = asyncio.Event()
        try:
            return await self._run_elsewhere(command, answered)
        finally:
            del self._waiting[command.event_id]

    async def given(self, key: str) -> None:
        """Run a command that was given in another process, if its chat is worked on here."""
        if key:
            self.background.start(self._obey(key), f"command {key}")

    async def answered(self, key: str) -> None:
        """Let those who wait look for their answers, or for this one."""
        for each, event in self._waiting.items():
            if key in (each, ""):
                event.set()

    async def _obey(self, key: str) -> None:
        command = await self._rows.find(key)
        if command is None or not self._sending.owns(command.chat) or not await self._rows.take(key):
            return
        try:
            reply = _Reply(message=await self._run(command))
        except NoAnswer as error:
            reply = _Reply(refused=str(error))
        await self._rows.answer(key, reply.model_dump_json())

    async def _run(self, command: CommandInvoked) -> OutboundMessage | None:
        """Run a command here, after the events that were in its chat before."""
        await self._dispatcher.wait_routed(command.chat)
        session = self._sessions.of(command.chat)
        async with session.obeying:
            return await self._message(await self._commands.run(session, command, command.name, command.arguments))

    async def _message(self, answer: Answer) -> OutboundMessage | None:
        """Return what a visitor is shown. Raises NoAnswer for an answer that the agent has to give."""
        if isinstance(answer, Said | Again):
            raise NoAnswer("page_say_in_chat")
        if isinstance(answer, Settling):
            answer = await self._settled(answer)
        answer = answer.reply if isinstance(answer, Quoting) else answer
        return answer.message if isinstance(answer, Rewritten | Unfolded | Once) else answer

    async def _settled(self, answer: Settling) -> OutboundMessage | Rewritten | None:
        """Make the change of an answer and return its reply. A command of the page has no event to settle with it."""
        try:
            return await self._rows.write(answer.change)
        except Exception as error:
            if may_pass(error):
                raise
            log.exception("a plugin failed", plugin=answer.by, command=answer.command)
            return answer.failed

    async def _run_elsewhere(self, command: CommandInvoked, answered: asyncio.Event) -> OutboundMessage | None:
        await self._rows.give(command)
        until = self._clock.monotonic() + WITHIN
        while self._clock.monotonic() < until:
            await set_within(answered, ASK_EVERY, self._clock)
            answered.clear()
            found = await self._rows.fetch(command.event_id)
            if found is not None:
                reply = _Reply.model_validate_json(found)
                if reply.refused:
                    raise NoAnswer(reply.refused)
                return reply.message
            if await self._sending.right(command.chat) is not Right.REMOTE:
                if await self._rows.take(command.event_id):
                    return await self._run(command)
            else:
                await self._rows.offer(command.event_id)
        await self._rows.withdraw(command.event_id)
        raise NoAnswerInTime("page_no_answer")
