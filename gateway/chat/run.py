"""Drives one run of the agent in a chat: events to the transcript and the progress message, then the answer."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import structlog

from agent_core.agent import Agent
from agent_core.events import AgentEnd, AgentEvent
from agent_core.messages import AgentMessage, Usage
from agent_core.reasons import TerminalReason
from channels.base import Channel, ChannelError, OutboundMessage, Posted, Sender
from gateway.chat.desk import Desk
from gateway.delivery.progress_message import SOON, YOUNG, ProgressMessage
from gateway.delivery.reasoning import reasoning_of
from gateway.records.trace import Trace
from gateway.records.transcript import Transcript
from gateway.runs.answer import answer_posts, answer_text, answered_by, buttons_below, signed
from gateway.runs.model_trouble import Reader, trouble_text
from gateway.store.rows import Post, Run, RunEnd
from gateway.texts.say import Language

log = structlog.get_logger(__name__)


class ChatRun:
    """One run of a chat's agent. Create a new object for each run."""

    def __init__(
        self, desk: Desk, channel: Channel, agent: Agent, run: Run, language: Language, on_said: Callable[[str], None]
    ) -> None:
        """`on_said` is called with the id of each message that is added to the transcript."""
        self._desk = desk
        self._channel = channel
        self._voice = desk.delivery.voice(run.chat)
        self._agent = agent
        self._run = run
        self._language = language
        self.is_over = False
        """True once the agent has ended and only delivery is left."""
        self.is_noted = False
        """True once its end and its answer are on disk."""
        self.is_waiting = False
        """True while approval of a call is pending."""
        self.released = asyncio.Event()
        """Set when a user stops the run, so that it is not left for the next process to resume."""
        self._transcript = Transcript(desk.store, run, agent.loop.tools, on_said)
        self._trace = Trace(desk.store, desk.audit, agent, run)

    async def start(self, prompts: list[AgentMessage]) -> None:
        """Run the agent on new messages and deliver the answer."""
        self._desk.store.runs.begin(self._run)
        events = self._agent.stream(prompts, run_id=self._run.id, user_id=self._run.person)
        await self._drive(events, None, [])

    async def resume(self, earlier: list[AgentMessage]) -> None:
        """Continue a run that an earlier process did not finish, reusing its progress message.

        `earlier` holds the messages it stored.
        """
        if not earlier:
            # The process ended before the first message was stored: it is still waiting, and begins another run.
            await self._desk.store.runs.end(self._run, RunEnd(TerminalReason.ABORTED, Usage(), ""), [])
            return
        posted = await self._shown()
        log.info("run resumed", run=self._run.id, chat=str(self._run.chat))
        so_far = await self._desk.store.runs.so_far(self._run, earlier)
        events = self._agent.resume(run_id=self._run.id, user_id=self._run.person, so_far=so_far)
        await self._drive(events, posted, earlier)

    async def _shown(self) -> Posted | None:
        """Return the run's progress message. If it was not recorded, look for it on the platform."""
        key = f"{self._run.id}:progress:0"
        noted = await self._desk.store.outbox.find(key)
        if noted and noted.message_id:
            return Posted(chat=self._run.chat, message_id=noted.message_id)
        try:
            message = OutboundMessage(markdown="")
            known = await self._desk.store.outbox.known(
                Post(key, self._run.id, self._run.chat, message, at=self._run.started)
            )
            return (await self._voice.find(self._run.chat, message, key, known)).found
        except ChannelError as error:
            log.info("not looked for progress", run=self._run.id, reason=error.reason)
            return None

    async def _drive(
        self, events: AsyncGenerator[AgentEvent, None], posted: Posted | None, earlier: list[AgentMessage]
    ) -> None:
        desk = self._desk
        progress = ProgressMessage(
            voice=self._voice,
            run=self._run,
            limiter=desk.delivery.limiter(self._run.chat),
            store=desk.store,
            clock=desk.clock,
            language=self._language,
            posted=posted,
        )
        try:
            end = AgentEnd(reason=TerminalReason.ERROR, messages=())
            with desk.drain.unit(self._run.id) as unit:
                async with aclosing(events):
                    async for event in events:
                        progress.apply(event)
                        self.is_waiting = progress.progress.is_waiting
                        self._trace.keep(event)
                        await self._transcript.keep(event)
                        await unit.follow(event, self._agent.loop.tools, self.released)
                        if isinstance(event, AgentEnd):
                            end, self.is_over = event, True
        finally:
            await progress.stop()
        await self._settle(end, progress, earlier)

    def _trouble(self, end: AgentEnd, usual: str) -> str:
        """Return the reason for the failure, in detail only in an owner's direct chat."""
        chat, desk = self._run.chat, self._desk
        is_owner = desk.access.is_owner(chat, Sender(id=self._run.person, name=""))
        reader = Reader(
            self._language, self._channel.limits.slash, is_owner=is_owner and not self._channel.is_group(chat)
        )
        return trouble_text(end, self._run.id[:8], usual, reader, desk.secrets)

    def _reasoning(self, said: list[AgentMessage]) -> str:
        folds = self._channel.limits.folds_reasoning
        return reasoning_of(said, self._desk.secrets) if folds else ""

    async def _picture(self) -> Post | None:
        """Return this session's picture without a caption if it is the chat's last message and at most seconds old."""
        chat, desk = self._run.chat, self._desk
        newest = self._voice.newest(chat) if self._channel.limits.captions else None
        post = await desk.store.outbox.current(chat, newest) if newest is not None else None
        if post is None or not post.is_bare_picture_of(self._run.session) or desk.clock.time() - post.at >= YOUNG:
            return None
        return post if desk.delivery.limiter(chat).edit_queue() < SOON else None

    async def _settle(self, end: AgentEnd, progress: ProgressMessage, earlier: list[AgentMessage]) -> None:
        """Store the end of the run and its answer in one transaction, then deliver it."""
        if end.error:
            log.warning("run failed", run=self._run.id, chat=str(self._run.chat), error=end.error)
        said = [*earlier, *end.messages]
        usual = self._agent.loop.model.id
        model = answered_by(said, usual)
        why = self._trouble(end, usual) if end.reason is TerminalReason.ERROR else ""
        text = answer_text(said, end, self._agent.loop.limits, why, self._language)
        text = signed(text, model, usual, self._language)
        buttons = buttons_below(said, end, self._run, self._language)
        message = OutboundMessage(
            markdown=text, reply_to=self._run.reply_to, buttons=buttons, reasoning=self._reasoning(said)
        )
        picture = await self._picture()
        posts = answer_posts(self._voice, self._run, message, progress, picture, self._desk.clock.time())
        state = self._agent.state
        how = RunEnd(end.reason, state.usage, model, end.error)
        await self._desk.store.runs.end(self._run, how, posts)
        self.is_noted = True
        await self._desk.run_over(self._run.id)
        # Recorded before delivery, since a user may reply before the delivery is.
        self._desk.access.spoke(self._run.chat)
        trouble = await self._desk.delivery.attempt(self._run.chat, posts)
        if earlier and not progress.progress.tools and posts[-1].is_progress:
            await progress.vanish()  # it would only say how long the restart took
        if trouble is None:
            await self._desk.jobs.reached(self._run.chat)
            await self._desk.heartbeats.answered(self._run)
