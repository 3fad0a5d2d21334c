"""Builds each request from the prompt, the request history and the tools."""

from collections.abc import Sequence
from itertools import chain

from msgspec import Struct

from agent_core.context.prompt import MEMORY, REMEMBER, Persona, SystemPrompt
from agent_core.context.request_history import RequestHistory
from agent_core.identity_cache import IdentityCache
from agent_core.loop.state import QueryState
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    Frozen,
    StopReason,
    ToolResultMessage,
    UserMessage,
)
from agent_core.models.llm import LlmRequest, ToolSpec
from agent_core.models.tokens import estimate, message_tokens
from agent_core.skills.chat_skills import ChatSkills
from agent_core.tools.finding import named_in
from agent_core.tools.registry import ToolRegistry

FAILED = frozenset({StopReason.ERROR, StopReason.ABORTED})
SKILL_PARTS = ("always_skills", "skill_protocol", "skills_index", "loaded_skills", "loaded_references")


class Buckets(Frozen):
    """Tokens in the window by kind of content."""

    prompt: int = 0
    tools: int = 0
    skill_index: int = 0
    loaded_skills: int = 0
    references: int = 0
    circumstances: int = 0
    """Context of user messages: the time, memories, quotes."""
    conversation: int = 0
    tool_results: int = 0

    @property
    def total(self) -> int:
        return sum(self.__dict__.values())


class ContextStats(Frozen):
    """Use of the context window."""

    messages: int
    tokens: int
    window: int
    buckets: Buckets
    """Adds up to `tokens`, except for rounding."""
    loaded_skills: tuple[str, ...] = ()
    loaded_references: tuple[str, ...] = ()
    available_skills: tuple[str, ...] = ()
    """Skills that can be loaded."""

    @property
    def free(self) -> int:
        return max(0, self.window - self.tokens)

    @property
    def percent(self) -> float:
        return 100 * self.tokens / self.window if self.window else 0.0


class _Head(Struct, frozen=True):
    """The part of a request before its messages."""

    system: str
    tools: tuple[ToolSpec, ...]
    system_tokens: int
    tool_tokens: int
    tokens: int
    """Of both."""


class ContextManager:
    """Builds the requests of one conversation from the state of the run and the current tools and skills."""

    def __init__(
        self,
        tools: ToolRegistry,
        persona: Persona | None = None,
        workspace: str = "",
        skills: ChatSkills | None = None,
    ) -> None:
        self.tools = tools
        self.skills = skills or ChatSkills()
        self.persona = persona or Persona()
        self.workspace = workspace
        self.system_prompt: str | None = None
        """Replaces the generated prompt if set."""
        self._history = RequestHistory()
        self._size = IdentityCache[AgentMessage, int](_sent_tokens)
        self._named = IdentityCache[AgentMessage, tuple[str, ...]](named_in)
        self._messages: Sequence[AgentMessage] = ()
        """The conversation in which tools were found."""
        self._made_from: tuple[object, ...] = ()
        self._made: _Head | None = None
        """The last head, which holds until one of the parts from which it was made is replaced."""
        self._asked_with: int | None = None
        """Tokens of prompt and tools in the last request."""

    def build_request(self, state: QueryState, *, with_tools: bool = True) -> LlmRequest:
        """Build the next request; the same state gives the same bytes, so that providers can cache it."""
        self.skills.refresh()
        head = self._head(state)
        self._asked_with = head.tokens
        # Not validated again: that takes longer than the rest of a long conversation's next turn.
        return LlmRequest.model_construct(
            system=head.system,
            messages=self._history.of(state.messages),
            tools=head.tools if with_tools else (),
            tool_choice="auto" if with_tools else "none",
        )

    def tokens(self, state: QueryState) -> int:
        """Return the approximate tokens of the next request.

        The model's last report plus an estimate of what was added since, prompt and tools included; at least half of a
        full estimate, because some servers report only tokens outside their cache.
        """
        prefix = self._head(state).tokens
        sizes = self._size.row(state.messages)
        guess = prefix + sum(sizes)
        for place in reversed(range(len(state.messages))):
            message = state.messages[place]
            if isinstance(message, AssistantMessage) and message.usage.total and message.stop_reason not in FAILED:
                grown = 0 if self._asked_with is None else prefix - self._asked_with
                return max(message.usage.total + grown + sum(sizes[place + 1 :]), guess // 2)
        return guess

    def found(self, messages: Sequence[AgentMessage]) -> Sequence[str]:
        """Return the tools that come and go which were found or called in these messages, in that order."""
        taken = self.tools.taken
        return [name for name in dict.fromkeys(chain.from_iterable(map(self._named, messages))) if name not in taken]

    def guess(self, messages: Sequence[AgentMessage]) -> int:
        """Return the tokens of a request with these messages by estimate alone."""
        return self._head().tokens + self.size_of(messages)

    def sizes(self, messages: Sequence[AgentMessage]) -> list[int]:
        """Return the estimated tokens of each message; failed answers are not sent and count 0."""
        return self._size.each(messages)

    def size_of(self, messages: Sequence[AgentMessage]) -> int:
        """Return the estimated tokens of all messages together."""
        return sum(self._size.each(messages))

    def stats(self, state: QueryState, window: int) -> ContextStats:
        """Return the figures of `/context`; the parts are estimates, scaled to the total that the model reported."""
        tokens = self.tokens(state)
        guess = self._buckets(state.messages)
        by = tokens / guess.total if guess.total else 1.0
        states = self.skills.states.skills
        return ContextStats(
            messages=len(state.messages),
            tokens=tokens,
            window=window,
            buckets=Buckets(**{name: round(size * by) for name, size in guess}),
            loaded_skills=self.skills.names,
            loaded_references=tuple(f"{skill.name}/{path}" for skill in states for path in skill.references),
            available_skills=tuple(skill.name for skill, is_loaded in self.skills.offered() if not is_loaded),
        )

    def _buckets(self, messages: Sequence[AgentMessage]) -> Buckets:
        head = self._head()
        parts = self._system(head.tools)
        skills = {name: estimate(getattr(parts, name)) for name in SKILL_PARTS} if self.system_prompt is None else {}
        results = [message for message in messages if isinstance(message, ToolResultMessage)]
        beside = sum(estimate(message.context or "") for message in messages if isinstance(message, UserMessage))
        results_size = self.size_of(results)
        return Buckets(
            prompt=max(0, head.system_tokens - sum(skills.values())),
            tools=head.tool_tokens,
            skill_index=skills.get("skills_index", 0) + skills.get("skill_protocol", 0),
            loaded_skills=skills.get("loaded_skills", 0) + skills.get("always_skills", 0),
            references=skills.get("loaded_references", 0),
            circumstances=beside,
            conversation=max(0, self.size_of(messages) - results_size - beside),
            tool_results=results_size,
        )

    def _head(self, state: QueryState | None = None) -> _Head:
        """Return what stands before the messages: of this state, or of the one that was asked about last."""
        if state is not None:
            self._messages = state.messages
        specs = self.tools.specs(lambda: self.found(self._messages))
        parts = (self.system_prompt, self.persona, self.workspace, self.skills.texts, specs)
        if self._made is None or parts != self._made_from:
            idle = self.skills.texts.idle_tools  # those that no skill has a use for are not offered
            tools = tuple(spec for spec in specs if spec.name not in idle)
            system = self._system(tools).render() if self.system_prompt is None else self.system_prompt
            tool_tokens = sum(estimate(spec.model_dump_json()) for spec in tools)
            tokens = estimate(system)
            self._made = _Head(system, tools, tokens, tool_tokens, tokens + tool_tokens)
            self._made_from = parts
        return self._made

    def _system(self, tools: Sequence[ToolSpec]) -> SystemPrompt:
        texts, remembers = self.skills.texts, any(each.name == REMEMBER for each in tools)
        return SystemPrompt(
            identity=self.persona.render(),
            memory_guide=MEMORY if remembers else "",
            workspace=f"# Workspace\nFiles of this chat: {self.workspace} (use relative paths)"
            if self.workspace
            else "",
            always_skills=texts.always,
            skill_protocol=texts.protocol,
            skills_index=texts.index,
            loaded_skills=texts.loaded,
            loaded_references=texts.references,
        )


def _sent_tokens(message: AgentMessage) -> int:
    """Return the estimated tokens of a message; a failed answer is not sent."""
    is_failed = isinstance(message, AssistantMessage) and message.stop_reason in FAILED
    return 0 if is_failed else message_tokens(message)
