"""One run of the agent in a chat: its events go to the transcript and to the progress message, its answer out."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import structlog

from agent_core.agent import Agent
from agent_core.events import AgentEnd, AgentEvent, MessageEnd, TurnStart
from agent_core.messages import AgentMessage, AssistantMessage, ToolResultMessage, Usage
from agent_core.reasons import TerminalReason
from channels.base import Channel, ChannelError, OutboundMessage, Posted
from gateway.answer import answer_posts, answer_text
from gateway.desk import Desk
from gateway.progress_message import ProgressMessage
from gateway.prompts import inbox_seqs
from gateway.store.rows import Run, RunEnd
from gateway.texts import Language
from gateway.trace import Trace

log = structlog.get_logger(__name__)


class ChatRun:
    """Drives one run to its end; made anew for each."""

    def __init__(
        self, desk: Desk, channel: Channel, agent: Agent, run: Run, language: Language, on_said: Callable[[str], None]
    ) -> None:
        self._desk = desk
        self._channel = channel
        self._voice = desk.delivery.voice(run.chat)
        self._agent = agent
        self._run = run
        self._language = language
        self._on_said = on_said
        """Called with the id of each message that has entered the transcript."""
        self.is_over = False
        """The agent has ended; what is left is to say so."""
        self.is_waiting = False
        """Somebody is asked whether a call may be made."""
        self._turn = 0
        self._trace = Trace(desk.store, desk.audit, agent, run)

    async def start(self, prompts: list[AgentMessage]) -> None:
        """Run from new messages to the delivered answer."""
        self._desk.store.begin_run(self._run)
        events = self._agent.stream(prompts, run_id=self._run.id, user_id=self._run.person)
        await self._drive(events, None, [])

    async def resume(self) -> None:
        """Go on with a run that a stop of the program cut off; its progress message is used again."""
        earlier = await self._desk.store.said_in(self._run)
        if not earlier:
            # It stopped before its first message was written: that one still waits, and begins a run of its own.
            await self._desk.store.end_run(self._run, RunEnd(TerminalReason.ABORTED, Usage(), ""), [])
            return
        posted = await self._shown()
        log.info("run resumed", run=self._run.id, chat=str(self._run.chat))
        await self._drive(self._agent.resume(run_id=self._run.id, user_id=self._run.person), posted, earlier)

    async def _shown(self) -> Posted | None:
        """The run's progress message, if there is one; the program may have ended before it could note it."""
        key = f"{self._run.id}:progress:0"
        noted = await self._desk.store.find_post(key)
        if noted and noted.message_id:
            return Posted(chat=self._run.chat, message_id=noted.message_id)
        try:
            return await self._voice.find(self._run.chat, OutboundMessage(markdown=""), key)
        except ChannelError as error:
            log.info("not looked for progress", run=self._run.id, reason=error.reason)
            return None

    async def _drive(
        self, events: AsyncGenerator[AgentEvent, None], posted: Posted | None, earlier: list[AgentMessage]
    ) -> None:
        desk = self._desk
        progress = ProgressMessage(
            voice=self._voice,
            chat=self._run.chat,
            run=self._run.id,
            limiter=desk.delivery.limiter(self._run.chat),
            store=desk.store,
            clock=desk.clock,
            language=self._language,
            reply_to=self._run.reply_to,
            posted=posted,
        )
        try:
            end = AgentEnd(reason=TerminalReason.ERROR, messages=())
            async with aclosing(events):
                async for event in events:
                    progress.apply(event)
                    self.is_waiting = progress.progress.is_waiting
                    await self._keep(event)
                    if isinstance(event, AgentEnd):
                        end, self.is_over = event, True
        finally:
            await progress.stop()
        await self._settle(end, progress, earlier)

    async def _keep(self, event: AgentEvent) -> None:
        """Write down what happened. What a later write makes safe as well is not waited for; calls that may not be
        repeated are, so that after a crash nobody runs again what may have run."""
        match event:
            case TurnStart():
                self._turn = event.turn
            case MessageEnd(message=message):
                later = all(map(self._agent.loop.tools.may_repeat, _tools_in(message)))
                seqs = inbox_seqs([message.id])
                written = self._desk.store.append(self._run, self._turn, message, seqs, later=later)
                self._on_said(message.id)
                if not later:
                    await written
            case _:
                pass
        self._trace.keep(event)

    async def _settle(self, end: AgentEnd, progress: ProgressMessage, earlier: list[AgentMessage]) -> None:
        """Note the end and the answer in one transaction, then deliver it."""
        if end.error:
            log.warning("run failed", run=self._run.id, chat=str(self._run.chat), error=end.error)
        said = [*earlier, *end.messages]
        slash = self._channel.limits.slash
        text = answer_text(said, end, self._run, self._agent.loop.limits, slash, self._language)
        posts = answer_posts(self._voice, self._run, text, progress, self._desk.clock.time())
        state = self._agent.state
        how = RunEnd(end.reason, state.usage, self._agent.loop.model.id, end.error)
        await self._desk.store.end_run(self._run, how, posts)
        await self._desk.approvals.run_over(self._run.id)
        # Before, for whoever reads the answer may reply before its delivery is noted.
        self._desk.access.spoke(self._run.chat)
        await self._desk.delivery.deliver(self._run.chat, posts)


def _tools_in(message: AgentMessage) -> list[str]:
    """The names of the tools that a message calls or answers for."""
    match message:
        case AssistantMessage():
            return [call.name for call in message.tool_calls]
        case ToolResultMessage():
            return [message.tool_name]
        case _:
            return []
