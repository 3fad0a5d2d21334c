"""One conversation with an agent: the loop, its history, what waits for it, and who listens (S4-01)."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from pathlib import Path

from agent_core.cancel import CancelToken
from agent_core.context.context import ContextManager
from agent_core.events import AgentEnd, AgentEvent, CompactionEnd, MessageEnd, MessageStart, MessageUpdate, TurnStart
from agent_core.guests import Guest
from agent_core.limits import TaskBudget
from agent_core.llm import ModelInfo, TextDelta, ThinkingLevel
from agent_core.loop.agent_loop import AgentLoop, CannotContinue
from agent_core.loop.engine import RunInputs
from agent_core.loop.execution import CallScope
from agent_core.loop.spoken import joined
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
from agent_core.partial import PartialAssembler
from agent_core.queues import MessageQueues
from agent_core.reasons import TransitionReason
from agent_core.skills.room import Room
from agent_core.skills.skill import Skill
from agent_core.state import QueryState, last_said
from agent_core.tool_result import ToolResult
from agent_core.tools import Tool

Listener = Callable[[AgentEvent], Awaitable[None] | None]
Prompt = str | AgentMessage | Sequence[AgentMessage]


class AgentBusy(RuntimeError):
    """The agent is in a run (S4-34)."""

    def __init__(self) -> None:
        super().__init__("the agent is running: steer() it, queue a follow_up(), or wait_for_idle()")


class Agent:
    """One per conversation. Runs one thing at a time; `steer` and `follow_up` reach it meanwhile."""

    def __init__(
        self,
        *,
        loop: AgentLoop,
        context: ContextManager,
        session_id: str,
        workspace: Path,
        queues: MessageQueues | None = None,
        chat_id: str | None = None,
    ) -> None:
        self.loop = loop
        self.context = context
        self.session_id = session_id
        self.workspace = workspace
        self.chat_id = chat_id
        self.queues = MessageQueues() if queues is None else queues
        context.skills.measure = self._room
        self._state = QueryState(run_id="", session_id=session_id)
        self._listeners: dict[object, Listener] = {}
        self._cancel: CancelToken | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._partial: PartialAssembler | None = None
        self._started: AssistantMessage | None = None

    # What it is doing (S4-26)

    @property
    def state(self) -> QueryState:
        """A copy, with what waits in the queues; JSON round-trips (S3-08)."""
        steering, follow_up = self.queues.peek()
        return self._state.model_copy(
            update={"messages": list(self._state.messages), "steering": steering, "follow_up": follow_up}
        )

    @property
    def is_running(self) -> bool:
        return self._cancel is not None

    @property
    def streaming_message(self) -> AssistantMessage | None:
        """The answer as far as it has come, or None while none streams (S4-19)."""
        if self._started is None or self._partial is None:
            return None
        return self._started.model_copy(update={"content": self._partial.content()})

    @property
    def pending_tool_calls(self) -> tuple[str, ...]:
        return tuple(self._state.pending_tool_calls) if self.is_running else ()

    @property
    def error(self) -> str | None:
        """Why the last run failed, if it did."""
        return self._state.error

    @property
    def has_queued_messages(self) -> bool:
        return bool(self.queues)

    # Running it

    async def prompt(self, prompt: Prompt, *, images: Sequence[ImageContent] = ()) -> AgentEnd:
        """Run to the end (S4-33). Raises AgentBusy while a run is under way."""
        return await _last(self.stream(prompt, images=images))

    async def stream(
        self,
        prompt: Prompt,
        *,
        images: Sequence[ImageContent] = (),
        run_id: str | None = None,
        user_id: str | None = None,
        budget: TaskBudget | None = None,
    ) -> AsyncGenerator[AgentEvent, None]:
        """The same, event by event; listeners hear each one first."""
        messages = _messages(prompt, images)
        inputs = self._begin(run_id, user_id, budget)
        source = self.loop.run(self._state, messages, inputs, _reason(messages))
        async with aclosing(self._watch(source)) as events:
            async for event in events:
                yield event

    async def stream_text(self, prompt: Prompt, *, images: Sequence[ImageContent] = ()) -> AsyncGenerator[str, None]:
        """Only the words of the answers, as they come, and a notice where a limit ended the run (S2-02, S0-35).

        A blank line stands between two answers. What a failed attempt has said cannot be unsaid here.
        """
        speaker = said_by = ""
        async with aclosing(self.stream(prompt, images=images)) as events:
            async for event in events:
                if isinstance(event, MessageStart):
                    speaker = event.message.id
                elif isinstance(event, AgentEnd):
                    speaker = "the end"
                elif isinstance(event, TurnStart) and event.reason is TransitionReason.MAX_OUTPUT_RECOVERY:
                    said_by = ""  # the rest of what was said last
                if piece := _piece(event):
                    yield f"\n\n{piece}" if said_by not in ("", speaker) else piece
                    said_by = speaker

    async def run_direct(self, prompt: Prompt) -> str:
        """The words of the whole run as one text (S2-07), without those of attempts that failed."""
        end = await self.prompt(prompt)
        said = [
            message.text
            for message in joined(end.messages)
            if (isinstance(message, NotificationMessage) and not message.to_model)
            or (isinstance(message, AssistantMessage) and message.stop_reason is not StopReason.ERROR)
        ]
        return "\n\n".join(text for text in [*said, end.error] if text)

    async def resume(
        self, *, run_id: str | None = None, user_id: str | None = None, budget: TaskBudget | None = None
    ) -> AsyncGenerator[AgentEvent, None]:
        """Go on where the history stops; open tool calls are answered first (S3-17)."""
        inputs = self._begin(run_id, user_id, budget)
        async with aclosing(self._watch(self.loop.resume(self._state, inputs))) as events:
            async for event in events:
                yield event

    async def continue_(self) -> AgentEnd:
        """Run again without a new prompt; after an answer, with what waits in the queues (S4-35).

        Raises AgentBusy, or CannotContinue where there is nothing to go on with.
        """
        if self.is_running:
            raise AgentBusy
        last = last_said(self._state)
        if not (isinstance(last, AssistantMessage) and not last.tool_calls):
            return await _last(self.resume())
        reason = TransitionReason.STEERING
        waiting = self.queues.drain_steering()
        if not waiting:
            reason = TransitionReason.FOLLOW_UP
            waiting = self.queues.drain_follow_up()
        if not waiting:
            raise CannotContinue("Cannot continue from message role: assistant")
        inputs = self._begin(None, None, None)
        return await _last(self._watch(self.loop.run(self._state, waiting, inputs, reason)))

    async def execute_tool(self, name: str, arguments: JsonObject) -> ToolResult:
        """Run one tool outside of any run, with all its checks and retries; nothing is added to the history (S2-08)."""
        call = ToolCall(id=self.loop.new_id(), name=name, arguments=arguments)
        return await self.loop.execute(call, self._scope(CancelToken(), None), self._state.messages)

    # Skills (D-09)

    def discover_skills(self) -> tuple[Skill, ...]:
        """What the model can load or has loaded, looked up now."""
        self.context.skills.refresh(now=True)
        return tuple(skill for skill, _ in self.context.skills.offered())

    def load_skill(self, name: str) -> str:
        """As a person does: it stays until `unload_skill` (D-10). Raises SkillError."""
        return self.context.skills.load(name, held=True).text

    def unload_skill(self, name: str) -> str:
        """With its references, whoever loaded it. Raises SkillError."""
        return self.context.skills.unload(name, by_person=True)

    # Reaching it while it runs

    async def compact(self, instructions: str = "") -> CompactionEnd | None:
        """Tell old turns in a summary now (D-09); `instructions` say what to keep above all. None where there is
        nothing to do it with. Raises AgentBusy."""
        inputs = self._begin(None, None, None)
        state = self.state  # a copy: what it goes through meanwhile is no run
        end: CompactionEnd | None = None
        async with aclosing(self._watch(self.loop.compact(state, inputs, instructions))) as events:
            async for event in events:
                if isinstance(event, CompactionEnd):
                    end = event
        self._state.messages = state.messages
        return end

    def steer(self, message: str | AgentMessage) -> None:
        """Reaches the running agent before its next model call; calls not yet started are skipped (C-01)."""
        self.queues.steer(user(message) if isinstance(message, str) else message)

    def follow_up(self, message: str | AgentMessage) -> None:
        """Reaches the agent when it would otherwise stop (S4-30)."""
        self.queues.follow_up(user(message) if isinstance(message, str) else message)

    def abort(self, reason: str = "user") -> None:
        """Stop the run; does nothing when idle (S4-38)."""
        if self._cancel is not None:
            self._cancel.cancel(reason)

    async def wait_for_idle(self) -> None:
        """Return when no run is under way and its listeners have heard the end (S4-39)."""
        await self._idle.wait()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear every event, in order of registration, awaited; returns a function that ends it (S4-37, C-33)."""
        handle = object()
        self._listeners[handle] = listener

        def unsubscribe() -> None:
            self._listeners.pop(handle, None)

        return unsubscribe

    # Changing it; takes effect with the next run, and emits nothing (S4-41)

    def reset(self) -> None:
        """Forget history and queues. Raises AgentBusy while running (C-20)."""
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
        """Set the history to a copy of `messages`."""
        self._state.messages = list(messages)

    def append_message(self, message: AgentMessage) -> None:
        self._state.messages.append(message)

    def clear_messages(self) -> None:
        self._state.messages = []

    def set_system_prompt(self, prompt: str | None) -> None:
        """None goes back to the built one."""
        self.context.system_prompt = prompt

    def set_model(self, model: ModelInfo) -> None:
        self.loop.model = model

    def set_tools(self, tools: Iterable[Tool]) -> None:
        """Raises ValueError where two have one name, or one a name of the skill system."""
        self.loop.tools = self.context.tools = self.context.tools.replaced(tools)

    def set_thinking_level(self, level: ThinkingLevel) -> None:
        self.loop.options = self.loop.options.model_copy(update={"thinking": level})

    def _begin(self, run_id: str | None, user_id: str | None, budget: TaskBudget | None) -> RunInputs:
        if self.is_running:
            raise AgentBusy
        self._cancel = CancelToken()
        self._idle.clear()
        self.context.skills.begin_run()
        messages = self._state.messages
        self._state = QueryState(run_id=run_id or self.loop.new_id(), session_id=self.session_id)
        self._state.messages = messages  # to read a long history again would take longer than all the rest of a turn
        scope = self._scope(self._cancel, user_id)
        return RunInputs(scope=scope, budget=budget or TaskBudget())

    def _room(self) -> Room:
        window = self.loop.caller.next_model.context_window
        return Room(self.context.tokens(self._state), window, self._state.messages)

    def _scope(self, cancel: CancelToken, user_id: str | None) -> CallScope:
        return CallScope(
            session_id=self.session_id,
            workspace=self.workspace,
            queues=self.queues,
            cancel=cancel,
            chat_id=self.chat_id,
            user_id=user_id,
            skills=self.context.skills,
        )

    async def _watch(self, source: AsyncGenerator[AgentEvent, None]) -> AsyncGenerator[AgentEvent, None]:
        """Follow a run: keep the partial answer, tell the listeners, and be idle again whatever happens (S4-36)."""
        try:
            async with aclosing(source) as events:
                async for event in events:
                    self._follow(event)
                    for listener in list(self._listeners.values()):
                        with Guest("listener"):
                            heard = listener(event)
                            if inspect.isawaitable(heard):
                                await heard
                    yield event
        finally:
            self._started = self._partial = None
            self._cancel = None
            self._idle.set()

    def _follow(self, event: AgentEvent) -> None:
        match event:
            case MessageStart(message=AssistantMessage() as message):
                self._started, self._partial = message, PartialAssembler()
            case MessageUpdate() if self._partial is not None:
                self._partial.feed(event.delta)
            case MessageEnd():
                self._started = self._partial = None
            case _:
                pass


def _piece(event: AgentEvent) -> str | None:
    """What an event says to a person who reads only words."""
    match event:
        case MessageUpdate(delta=TextDelta() as delta):
            return delta.delta
        case MessageEnd(message=NotificationMessage(to_model=False) as notice):
            return notice.text
        case AgentEnd():
            return event.error
        case _:
            return None


async def _last(events: AsyncGenerator[AgentEvent, None]) -> AgentEnd:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, AgentEnd):
                end = event
    return end


def _reason(prompts: Sequence[AgentMessage]) -> TransitionReason:
    """Why a run with these prompts starts (S3-18)."""
    if prompts and all(isinstance(message, NotificationMessage) for message in prompts):
        return TransitionReason.TASK_NOTIFICATION
    if any(isinstance(message, UserMessage) and message.by_agent for message in prompts):
        return TransitionReason.SUBAGENT
    return TransitionReason.START


def _messages(prompt: Prompt, images: Sequence[ImageContent]) -> list[AgentMessage]:
    if isinstance(prompt, str):
        return [user(prompt, *images)]
    return [prompt] if isinstance(prompt, Frozen) else list(prompt)
