"""Drives one run of the agent in a chat: events to the transcript and the progress message, then the answer."""

import asyncio
from collections.abc import Callable, Sequence

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent_core.agent import Agent, RunStart, reason_for
from agent_core.events import (
    AgentEnd,
    AgentEvent,
    AgentStart,
    BudgetReached,
    PermissionRequest,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
)
from agent_core.messages import AgentMessage
from agent_core.reasons import TerminalReason, TransitionReason
from channels.base import ChatKey
from gateway.chat.answers import Answers
from gateway.chat.conversation import Conversation
from gateway.chat.places import Moved
from gateway.chat.run_end import RunEnds
from gateway.delivery.progress_message import ProgressMessage
from gateway.runs.owed import OwedWork
from gateway.runs.runner import Attempt, Runner
from gateway.store.rows import Post, Run, RunEnd
from gateway.store.store import Store
from gateway.texts.say import Language

CallEvent = ToolExecutionStart | PermissionRequest | ToolExecutionUpdate | ToolExecutionEnd


class CalledTools:
    """Follows the events of a run. A call that waits for approval has not been made."""

    def __init__(self) -> None:
        self._made: set[str] = set()
        self._open: dict[str, str] = {}
        """Tools of calls without a result, by the call's id."""
        self._asked: set[str] = set()

    @property
    def names(self) -> frozenset[str]:
        """The tools that were called, or are just being called."""
        return frozenset(self._made | {name for call, name in self._open.items() if call not in self._asked})

    def follow(self, event: CallEvent) -> None:
        match event:
            case ToolExecutionStart():
                self._open[event.tool_call_id] = event.tool_name
            case PermissionRequest():
                self._asked.add(event.tool_call_id)
            case ToolExecutionUpdate():
                self._asked.discard(event.tool_call_id)
            case ToolExecutionEnd():
                self._open.pop(event.tool_call_id, None)
                self._asked.discard(event.tool_call_id)
                if event.attempts:
                    self._made.add(event.tool_name)


log = structlog.get_logger(__name__)


class ChatRun:
    """One run of a chat's agent. Create a new object for each run."""

    def __init__(
        self,
        runs: "ChatRuns",
        agent: Agent,
        run: Run,
        language: Language,
        on_said: Callable[[str], None],
        *,
        makes_way: bool,
    ) -> None:
        """Create the run.

        Args:
            on_said: Is called with the id of each message that is added to the transcript.
            makes_way: True if the run is left where a budget has no room, for others in the chat to go on.
        """
        self._store = runs.store
        self._runner = runs.runner
        self._answers = runs.answers
        self._ends = runs.ends
        self._owed = runs.owed
        self._agent = agent
        self._run = run
        self._language = language
        self.is_over = False
        """True once the agent has ended and only delivery is left."""
        self.is_noted = False
        """True once its end and its answer are on disk."""
        self.released = asyncio.Event()
        """Set when a user stops the run, so that it is not left for the next process to resume."""
        self.is_left = False
        """True once it waits for room in a budget and makes way for others."""
        self.called = CalledTools()
        self.said = on_said
        self.prompts: Sequence[AgentMessage] = ()
        """The messages with which it begins."""
        self.earlier: Sequence[AgentMessage] = ()
        """Those that it has stored in an earlier process."""
        self._makes_way = makes_way
        self._end = AgentEnd(reason=TerminalReason.ERROR, messages=())
        self._progress: ProgressMessage | None = None

    def show(self, event: AgentEvent) -> None:
        if isinstance(event, AgentStart) and self.released.is_set():
            self._agent.abort()  # it was stopped before there was anything to abort, as while files were fetched
        if isinstance(event, CallEvent):
            self.called.follow(event)
        self.is_left = self._makes_way and isinstance(event, BudgetReached)
        if self._progress is not None:
            self._progress.apply(event)

    @property
    def is_waiting(self) -> bool:
        """True while approval of a call is pending."""
        return self._progress is not None and self._progress.progress.is_waiting

    def ended(self, end: AgentEnd) -> None:
        self._end, self.is_over = end, True

    async def drive(self) -> None:
        """Run the agent on its prompts, or go on with a run of an earlier process, and deliver the answer.

        The progress message of such a run is used again.
        """
        start, reason, posted = RunStart(self._run.id, self._run.person), reason_for(self.prompts), None
        if self.prompts:
            self._store.runs.begin(self._run)
        elif self.earlier:
            posted = await self._answers.shown(self._run)
            log.info("run resumed", run=self._run.id, chat=str(self._run.chat))
            so_far = await self._store.runs.so_far(self._run, self.earlier)
            start, reason = replace(start, so_far=so_far), TransitionReason.RESUME
        else:
            # The process ended before the first message was stored: it is still waiting, and begins another run.
            await self._store.runs.end(self._run, RunEnd(TerminalReason.ABORTED, ""), ())
            return
        self._progress = progress = self._answers.progress(self._run, self._language, posted)
        try:
            await self._runner.equip(self._run, self._agent)
            with self._runner.driving(self._run, self._agent, self) as emit, self._agent.running(start, emit) as run:
                await self._agent.loop.run(run, self.prompts, reason)
        finally:
            await progress.stop()
        if self.is_left:
            await progress.rest()
        else:
            await self._settle(progress)

    async def _settle(self, progress: ProgressMessage) -> None:
        """Store the end of the run and its answer in one transaction, then deliver it."""
        end = self._end
        if end.error:
            log.warning("run failed", run=self._run.id, chat=str(self._run.chat), error=end.error)
        how, posts = await self._answers.compose(self._run, self._agent, end, self.earlier, progress)
        owed = await self._store.runs.end(self._run, how, posts, owes=self._owed.at_end(self._run, how))
        self.is_noted = True
        trouble = await self._ends.deliver(self._run, posts)
        if self.earlier and not progress.progress.tools and posts and posts[-1].is_progress:
            await progress.vanish()  # it would only say how long the restart took
        if trouble is None:
            self._runner.tally.answered[self._run.chat.platform] += 1
            await self._ends.delivered(self._run)
        self._owed.begin(owed)


class ChatRuns(Struct, frozen=True):
    """Begins and ends the runs of chats."""

    store: Store
    runner: Runner
    answers: Answers
    ends: RunEnds
    owed: OwedWork
    moved: Sequence[Moved]
    """Those that are told of each new place of a message, which may change."""

    async def deliver_left(self, chat: ChatKey, posts: Sequence[Post]) -> None:
        """Deliver posts that the previous process left unsent."""
        with self.runner.drain.unit(f"owed to {chat}"):
            await self.ends.deliver_left(chat, posts)

    async def resuming(
        self, conversation: Conversation, run: Run, attempt: Attempt, language: Language, *, goes_on: bool
    ) -> Agent | None:
        """Return the agent that resumes a run; None if the run has ended, as it is stuck or its messages are gone."""
        if attempt.is_stuck:
            await self.ends.set_aside(run, attempt.said, language)
            return None
        if goes_on:
            conversation.forget_agent()  # it does not know the run
        agent = await conversation.agent_of(run.session)
        said = [each.id for each in attempt.said]
        known = {each.id for each in agent.messages} if said else set[str]()
        if goes_on and said and said[0] not in known:
            await self.ends.stop(run, language)  # its message was taken back meanwhile
        elif attempt.is_lost or (said and known.isdisjoint(said)):
            await self.ends.lose(run, language)
        else:
            return agent
        return None
