"""One run of the agent in a chat: its events go to the transcript and to the progress message, its answer out."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import structlog

from agent_core.agent import Agent
from agent_core.events import AgentEnd, AgentEvent
from agent_core.messages import AgentMessage, Usage
from agent_core.reasons import TerminalReason
from channels.base import Channel, ChannelError, OutboundMessage, Posted
from gateway.answer import answer_posts, answer_text, answered_by, signed
from gateway.desk import Desk
from gateway.progress_message import ProgressMessage
from gateway.store.rows import Run, RunEnd
from gateway.texts import Language
from gateway.trace import Trace
from gateway.transcript import Transcript

log = structlog.get_logger(__name__)


class ChatRun:
    """Drives one run to its end; made anew for each."""

    def __init__(
        self, desk: Desk, channel: Channel, agent: Agent, run: Run, language: Language, on_said: Callable[[str], None]
    ) -> None:
        """`on_said` is called with the id of each message that has entered the transcript."""
        self._desk = desk
        self._channel = channel
        self._voice = desk.delivery.voice(run.chat)
        self._agent = agent
        self._run = run
        self._language = language
        self.is_over = False
        """The agent has ended; what is left is to say so."""
        self.is_waiting = False
        """Somebody is asked whether a call may be made."""
        self._transcript = Transcript(desk.store, run, agent.loop.tools, on_said)
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
                    self._trace.keep(event)
                    await self._transcript.keep(event)
                    if isinstance(event, AgentEnd):
                        end, self.is_over = event, True
        finally:
            await progress.stop()
        await self._settle(end, progress, earlier)

    async def _settle(self, end: AgentEnd, progress: ProgressMessage, earlier: list[AgentMessage]) -> None:
        """Note the end and the answer in one transaction, then deliver it."""
        if end.error:
            log.warning("run failed", run=self._run.id, chat=str(self._run.chat), error=end.error)
        said = [*earlier, *end.messages]
        slash = self._channel.limits.slash
        usual = self._agent.loop.model.id
        model = answered_by(said, usual)
        text = answer_text(said, end, self._run, self._agent.loop.limits, slash, self._language)
        text = signed(text, model, usual, self._language)
        posts = answer_posts(self._voice, self._run, text, progress, self._desk.clock.time())
        state = self._agent.state
        how = RunEnd(end.reason, state.usage, model, end.error)
        await self._desk.store.end_run(self._run, how, posts)
        await self._desk.run_over(self._run.id)
        # Before, for whoever reads the answer may reply before its delivery is noted.
        self._desk.access.spoke(self._run.chat)
        trouble = await self._desk.delivery.attempt(self._run.chat, posts)
        if trouble is None:
            await self._desk.jobs.reached(self._run.chat)
            await self._desk.heartbeats.answered(self._run)
