"""One conversation with an agent: its loop, history, queued messages and listeners."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from functools import partial

from msgspec import Struct, structs

from agent_core.cancel import CancelToken
from agent_core.context.context import ContextManager
from agent_core.events import AgentEnd, AgentEvent, CompactionEnd, MessageStart, TurnStart
from agent_core.log_errors import log_errors
from agent_core.loop.agent_loop import AgentLoop, CannotContinue
from agent_core.loop.answer import joined, piece_of
from agent_core.loop.engine import Run
from agent_core.loop.event_stream import Emit, stream_events, unheard
from agent_core.loop.execution import CallScope
from agent_core.loop.limits import NO_BUDGET, NOTHING_YET, SoFar, TaskBudget
from agent_core.loop.queues import MessageQueues
from agent_core.loop.state import QueryState, last_said
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    Frozen,
    ImageContent,
    JsonObject,
    NotificationMessage,
    StopReason,
    ToolCall,
    UserMessage,
    user,
)
from agent_core.models.llm import ModelInfo, ThinkingLevel
from agent_core.origin import CLEAN
from agent_core.reasons import CONTINUES_ANSWER, TransitionReason
from agent_core.skills.skill import Skill
from agent_core.skills.token_budget import TokenBudget
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import Tool, ToolEnvironment
from agent_core.workspace.provenance import FileSources

Listener = Callable[[AgentEvent], Awaitable[None] | None]
Prompt = str | AgentMessage | Sequence[AgentMessage]


class AgentBusy(RuntimeError):
    """A run was requested while another one is under way."""

    def __init__(self) -> None:
        super().__init__("the agent is running: steer() it, queue a follow_up(), or wait_for_idle()")


class RunStart(Struct, frozen=True):
    """The run that starts."""

    run_id: str | None = None
    user_id: str | None = None
    budget: TaskBudget = NO_BUDGET
    so_far: SoFar = NOTHING_YET
    """The part of its limits that the run had used before the program was restarted."""
    can_wait: bool = True
    """False: fails if a budget has no room, instead of waiting for it."""


class Agent:
    """An agent with one conversation. Runs one prompt at a time; `steer` and `follow_up` reach a run under way."""

    def __init__(
        self,
        loop: AgentLoop,
        context: ContextManager,
        environment: ToolEnvironment,
        queues: MessageQueues | None = None,
    ) -> None:
        """Create an agent.

        Args:
            context: Builds the requests of `loop`.
            environment: Where tools run. Their user is that of each run; their skills are those of `context`.
        """
        self.loop = loop
        self.context = context
        self.environment = structs.replace(
            environment,
            skills=context.skills,
            files=environment.files or FileSources(environment.workspace),
        )
        self.session_id = environment.session_id
        self.queues = MessageQueues() if queues is None else queues
        self._state = QueryState(run_id="", session_id=environment.session_id)
        self._listeners: dict[object, Listener] = {}
        self._run: Run | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    # State

    @property
    def state(self) -> QueryState:
        """Return a copy of the run's state with the queued messages; it round-trips through JSON."""
        steering, follow_up = self.queues.peek()
        return replace(self._state, messages=list(self._state.messages), steering=steering, follow_up=follow_up)

    @property
    def messages(self) -> Sequence[AgentMessage]:
        """Return the history itself; do not change it."""
        return self._state.messages

    @property
    def is_running(self) -> bool:
        return self._run is not None

    @property
    def streaming_message(self) -> AssistantMessage | None:
        """Return the answer streamed so far, or None while none is streaming."""
        return self._run.call.streaming if self._run and self._run.call else None

    @property
    def pending_tool_calls(self) -> tuple[str, ...]:
        return tuple(self._state.pending_tool_calls) if self.is_running else ()

    @property
    def error(self) -> str | None:
        """Return why the last run failed, or None."""
        return self._state.error

    @property
    def has_queued_messages(self) -> bool:
        return bool(self.queues)

    # Runs

    async def prompt(self, prompt: Prompt, *, images: Sequence[ImageContent] = ()) -> AgentEnd:
        """Run the prompt to the end of the run. Raises AgentBusy while a run is under way."""
        return await self.run(_messages(prompt, images), RunStart(), unheard)

    async def run(self, messages: Sequence[AgentMessage], start: RunStart, emit: Emit) -> AgentEnd:
        """Run these messages to the end of the run. `emit` gets each event after the listeners; the run waits for it.

        Raises AgentBusy while another run is under way, and whatever `emit` raises, which ends the run where it is.
        """
        with self.running(start, emit) as run:
            return await self.loop.run(run, messages, reason_for(messages))

    async def go_on(self, start: RunStart, emit: Emit) -> AgentEnd:
        """Continue where the history stops, as `run` does; open tool calls are answered first.

        Raises AgentBusy as `run` does, and CannotContinue if there is no history.
        """
        with self.running(start, emit) as run:
            return await self.loop.run(run, (), TransitionReason.RESUME)

    def stream(
        self,
        prompt: Prompt,
        *,
        images: Sequence[ImageContent] = (),
        run_id: str | None = None,
        user_id: str | None = None,
        budget: TaskBudget = NO_BUDGET,
        can_wait: bool = True,
    ) -> AsyncGenerator[AgentEvent, None]:
        """Run the prompt as `run` does, and yield its events.

        The run starts with the first event that is asked for, and waits while the consumer handles one. Consume it
        through `contextlib.aclosing`, so that a run that is left early ends there. It waits for room in a budget if it
        `can_wait`. Raises AgentBusy while another run is under way.
        """
        start = RunStart(run_id, user_id, budget, can_wait=can_wait)
        return stream_events(partial(self.run, _messages(prompt, images), start))

    async def stream_text(self, prompt: Prompt, *, images: Sequence[ImageContent] = ()) -> AsyncGenerator[str, None]:
        """Yield only the text of the answers as it arrives, plus a notice where a limit ended the run.

        Answers are separated by a blank line. The text of a failed attempt is already out and cannot be taken back.
        """
        speaker = said_by = ""
        async with aclosing(self.stream(prompt, images=images)) as events:
            async for event in events:
                if isinstance(event, MessageStart):
                    speaker = event.message.id
                elif isinstance(event, AgentEnd):
                    speaker = "the end"
                elif isinstance(event, TurnStart) and event.reason in CONTINUES_ANSWER:
                    said_by = ""  # the next piece continues the previous answer
                if piece := piece_of(event):
                    yield f"\n\n{piece}" if said_by not in ("", speaker) else piece
                    said_by = speaker

    async def run_direct(self, prompt: Prompt) -> str:
        """Return the text of the whole run, without that of failed attempts."""
        end = await self.prompt(prompt)
        said = [
            message.text
            for message in joined(end.messages)
            if (isinstance(message, NotificationMessage) and not message.to_model)
            or (isinstance(message, AssistantMessage) and message.stop_reason is not StopReason.ERROR)
        ]
        return "\n\n".join(text for text in [*said, end.error] if text)

    def resume(
        self,
        *,
        run_id: str | None = None,
        user_id: str | None = None,
        budget: TaskBudget = NO_BUDGET,
        so_far: SoFar = NOTHING_YET,
        can_wait: bool = True,
    ) -> AsyncGenerator[AgentEvent, None]:
        """Continue as `go_on` does, and yield the events as `stream` does; see `RunStart`."""
        return stream_events(partial(self.go_on, RunStart(run_id, user_id, budget, so_far, can_wait=can_wait)))

    async def continue_(self) -> AgentEnd:
        """Run again without a new prompt; after a finished answer, with the queued messages. Raises AgentBusy, or
        CannotContinue if there is nothing to continue with."""
        if self.is_running:
            raise AgentBusy
        last = last_said(self._state)
        if not (isinstance(last, AssistantMessage) and not last.tool_calls):
            return await self.go_on(RunStart(), unheard)
        steering = self.queues.drain_steering()
        reason = TransitionReason.STEERING if steering else TransitionReason.FOLLOW_UP
        waiting = steering or self.queues.drain_follow_up()
        if not waiting:
            raise CannotContinue("Cannot continue from message role: assistant")
        with self.running(RunStart(), unheard) as run:
            return await self.loop.run(run, waiting, reason)

    async def execute_tool(self, name: str, arguments: JsonObject) -> ToolResult:
        """Run one tool outside a run, with all its checks and retries; the history is not changed."""
        call = ToolCall(id=self.loop.runtime.new_id(), name=name, arguments=arguments)
        return await self.loop.execute(call, self._scope(CancelToken(), None), self._state.messages)

    # Skills

    def discover_skills(self) -> tuple[Skill, ...]:
        """Look the skills up now and return those that the model can load or has loaded."""
        self.context.skills.refresh(now=True)
        return tuple(skill for skill, _ in self.context.skills.offered())

    def load_skill(self, name: str) -> str:
        """Load a skill for a user: it stays loaded until `unload_skill`. Raises SkillError."""
        return self.context.skills.load(name, held=True, budget=self._token_budget()).text

    def inherit_skills(self, names: frozenset[str]) -> None:
        """Load the skills that a wider level keeps loaded, and unload those that it no longer does."""
        if names != self.context.skills.inherited:
            self.context.skills.inherit(names, self._token_budget())

    def reload_skill(self, name: str) -> str:
        """Reload a skill and its references for a user. Raises SkillError, and then leaves the loaded one."""
        return self.context.skills.reload(name, self._token_budget()).text

    def unload_skill(self, name: str) -> str:
        """Unload a skill with its references, even if a user loaded it. Raises SkillError."""
        return self.context.skills.unload(name, by_person=True)

    # Control while a run is under way

    async def compact(self, instructions: str = "", *, user_id: str | None = None) -> CompactionEnd | None:
        """Summarise old turns now; `instructions` say what the summary must keep. Returns None without a compactor.

        Raises AgentBusy.
        """
        with self.running(RunStart(user_id=user_id, can_wait=False), unheard) as run:
            run.state = self.state  # a copy, because the state changes of a compaction are not those of a run
            end = await self.loop.compact(run, instructions)
            self._state.messages = run.state.messages
        return end

    def steer(self, message: str | AgentMessage) -> None:
        """Queue a message for the next model call; tool calls not yet started are skipped."""
        self.queues.steer(user(message, origin=CLEAN) if isinstance(message, str) else message)

    def follow_up(self, message: str | AgentMessage) -> None:
        """Queue a message for the moment when the agent would otherwise stop."""
        self.queues.follow_up(user(message, origin=CLEAN) if isinstance(message, str) else message)

    def abort(self, reason: str = "user") -> None:
        """Stop the run; does nothing when idle."""
        if self._run is not None:
            self._run.cancel.cancel(reason)

    async def wait_for_idle(self) -> None:
        """Wait until no run is under way and the listeners have received its last event."""
        await self._idle.wait()

    def subscribe(self, listener: Listener) -> Callable[[], object]:
        """Register a listener for all events, called in order and awaited; returns a function that removes it."""
        handle = object()
        self._listeners[handle] = listener
        return lambda: self._listeners.pop(handle, None)

    # Configuration; takes effect with the next run and emits no events

    def reset(self) -> None:
        """Clear history and queues. Raises AgentBusy during a run."""
        if self.is_running:
            raise AgentBusy
        self._state = QueryState(run_id="", session_id=self.session_id)
        self.clear_queues()

    def clear_steering(self) -> None:
        self.queues.clear_steering()

    def clear_follow_up(self) -> None:
        self.queues.clear_follow_up()

    def clear_queues(self) -> None:
        self.clear_steering()
        self.clear_follow_up()

    def replace_messages(self, messages: Sequence[AgentMessage]) -> None:
        """Replace the history with a copy of `messages`."""
        self._state.messages = list(messages)

    def append_message(self, message: AgentMessage) -> None:
        self._state.messages.append(message)

    def clear_messages(self) -> None:
        self._state.messages = []

    def set_system_prompt(self, prompt: str | None) -> None:
        """Set the system prompt; None restores the generated one."""
        self.context.system_prompt = prompt

    def set_model(self, model: ModelInfo) -> None:
        self.loop.models.model = model

    def set_tools(self, tools: Iterable[Tool]) -> None:
        """Replace the tools. Raises ValueError for a duplicate name or one reserved for the skill system."""
        self.loop.tools = self.context.tools = self.context.tools.replaced(tools)

    def set_thinking_level(self, level: ThinkingLevel) -> None:
        models = self.loop.models
        models.options = models.options.model_copy(update={"thinking": level})

    @contextmanager
    def running(self, start: RunStart, emit: Emit) -> Iterator[Run]:
        """Begin a run with a new state, for `loop.run`. At the end of the block the agent is idle again.

        `emit` gets each event after the listeners. Raises AgentBusy while another run is under way.
        """
        if self.is_running:
            raise AgentBusy
        self._idle.clear()
        try:
            self.context.skills.begin_run()
            messages = self._state.messages
            self._state = QueryState(run_id=start.run_id or self.loop.runtime.new_id(), session_id=self.session_id)
            self._state.messages = messages  # not validated again: slow for a long history
            self.loop.models.spending.begin_run(self._state.run_id, start.user_id, can_wait=start.can_wait)
            scope = self._scope(CancelToken(), start.user_id)
            self._run = self.loop.begin(self._state, scope, partial(self._hear, emit), start.budget, start.so_far)
            yield self._run
        finally:
            self._run = None
            self._idle.set()

    def _token_budget(self) -> TokenBudget:
        window = self.loop.caller.next_model.context_window
        return TokenBudget(self.context.tokens(self._state), window, self._state.messages)

    def _scope(self, cancel: CancelToken, user_id: str | None) -> CallScope:
        environment = structs.replace(self.environment, user_id=user_id, token_budget=self._token_budget)
        return CallScope(environment, self.queues, cancel)

    async def _hear(self, emit: Emit, event: AgentEvent) -> None:
        """Notify the listeners, then emit the event."""
        for listener in list(self._listeners.values()):
            with log_errors("listener"):
                answer = listener(event)
                if answer is not None and inspect.isawaitable(answer):
                    await answer
        await emit(event)


def reason_for(prompts: Sequence[AgentMessage]) -> TransitionReason:
    """Return why a run with these prompts starts."""
    if prompts and all(isinstance(message, NotificationMessage) for message in prompts):
        return TransitionReason.TASK_NOTIFICATION
    if any(isinstance(message, UserMessage) and message.by_agent for message in prompts):
        return TransitionReason.SUBAGENT
    return TransitionReason.START


def _messages(prompt: Prompt, images: Sequence[ImageContent]) -> list[AgentMessage]:
    if isinstance(prompt, str):
        return [user(prompt, *images, origin=CLEAN)]
    return [prompt] if isinstance(prompt, Frozen) else list(prompt)
