"""Tools: a function with type hints and a docstring is one; the registry is what the model may call."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, create_model

from agent_core.cancel import CancelToken
from agent_core.llm import ToolSpec
from agent_core.messages import AgentMessage, AssistantMessage, JsonObject
from agent_core.skills.names import SKILL_TOOLS
from agent_core.skills.shelf import SkillShelf
from agent_core.tasks import TaskRecord
from agent_core.tool_result import ToolResult

Execution = Literal["sequential", "parallel"]
Retry = Literal["never", "transient", "always"]
Acts = Literal["read", "write", "net", "exec", "admin"]
"""What a call can do at worst: look at the workspace or what the house offers; change the workspace or speak in its own
chat; send something to an address of the model's choice; run a program; change schedules, skills or settings."""


class ToolFailed(Exception):
    """A tool says in words for the model why it could not do it, and what to try instead (S2-28)."""

    def __init__(self, fact: str, advice: str = "tell the person, or try another way") -> None:
        super().__init__(fact)
        self.fact = fact
        self.advice = advice


class RetryableToolError(ToolFailed):
    """It failed, but the same call may succeed a moment later; nothing was changed by this one (C-04)."""


class InvalidArguments(ToolFailed):
    """The model's arguments do not fit the tool's schema."""


class UnknownTool(ToolFailed):
    """The model called a tool that does not exist."""


def _to_nobody(_: TaskRecord) -> None:
    """Where nobody watches tasks."""


class ToolContext:
    """What a running tool may know and touch; never the chat's platform, never a secret."""

    def __init__(
        self,
        *,
        call_id: str,
        session_id: str,
        workspace: Path,
        cancel: CancelToken,
        on_update: Callable[[ToolResult], None],
        on_task: Callable[[TaskRecord], None] = _to_nobody,
        chat_id: str | None = None,
        user_id: str | None = None,
        messages: Sequence[AgentMessage] = (),
        skills: SkillShelf | None = None,
    ) -> None:
        self.call_id = call_id
        self.session_id = session_id
        self.chat_id = chat_id
        self.user_id = user_id
        self.workspace = workspace
        """The chat's own folder; it may not exist yet."""
        self.cancel = cancel
        self.on_update = on_update
        """Shows a partial result; ignored once the tool has returned (S4-22)."""
        self.on_task = on_task
        """Tells how a task stands that this call has started (S3-07); ignored in the same way."""
        self.messages = messages
        """The conversation as far as it has come."""
        self.skills = skills

    @property
    def answer_id(self) -> str:
        """Of the answer that the call stands in: the call's own id may come again in the same conversation."""
        for message in reversed(self.messages):
            if isinstance(message, AssistantMessage) and any(call.id == self.call_id for call in message.tool_calls):
                return message.id
        return ""


Body = Callable[..., Awaitable[str | ToolResult]]
Check = Callable[[BaseModel, ToolContext], None]
"""Raises ToolFailed where a call could only fail."""


def _nothing(_arguments: BaseModel, _context: ToolContext) -> None:
    """Has to be so first."""


@dataclass(frozen=True)
class Traits:
    """How a tool's calls are to be treated.

    `parallel` tools only read, and may run beside others; `idempotent` ones may be run again when nobody knows
    whether they ran before (after a crash). Every parallel tool is idempotent.
    """

    execution: Execution = "sequential"
    retry: Retry = "transient"
    idempotent: bool = False
    timeout_s: float | None = 60.0
    label: str = ""
    """The call in words for people, with `{argument}` where one belongs; empty: the tool's name."""
    acts: Acts = "read"
    untrusted: bool = False
    """Whether what it brings back may have been written by strangers, who may address the model in it."""
    check: Check = _nothing
    """What has to be so before anybody is asked for a call."""


class Tool(ABC):
    """One tool: what the model is told, and how a call of it is checked and run."""

    def __init__(self, spec: ToolSpec, traits: Traits) -> None:
        self.spec = spec
        self.execution = traits.execution
        self.retry = traits.retry
        self.idempotent = traits.idempotent or traits.execution == "parallel"
        self.timeout_s = traits.timeout_s
        self.acts = traits.acts
        self.untrusted = traits.untrusted
        self.check = traits.check

    @property
    def name(self) -> str:
        return self.spec.name

    @abstractmethod
    def validate(self, arguments: JsonObject) -> BaseModel:
        """The arguments as `execute` wants them. Raises InvalidArguments saying what does not fit."""

    def describe(self, arguments: JsonObject) -> str:
        """The call in words for people: the label with each `{argument}` filled in, or the name."""
        shown = {key: str(value)[:60] for key, value in {**self._defaults(), **arguments}.items()}
        try:
            return self.spec.label.format(**shown) or self.name
        except (KeyError, IndexError, ValueError):
            return self.name

    @abstractmethod
    async def execute(self, arguments: BaseModel, context: ToolContext) -> ToolResult:
        """Run it with arguments that `validate` returned; raises whatever goes wrong."""

    def _defaults(self) -> JsonObject:
        return {}


class FunctionTool(Tool):
    """A tool that is an async function of ours."""

    def __init__(self, body: Body, traits: Traits) -> None:
        self._body = body
        self._arguments = _arguments_model(body)
        self._wants_context = _wants_context(body)
        description = inspect.cleandoc(body.__doc__ or "")
        super().__init__(
            ToolSpec(
                name=body.__name__,
                description=description,
                parameters=_schema(self._arguments),
                label=traits.label,
            ),
            traits,
        )

    def validate(self, arguments: JsonObject) -> BaseModel:
        """The arguments, coerced on a copy; null for an argument that may be left out counts as left out (S4-21).

        Raises InvalidArguments naming each field that does not fit and what was received.
        """
        fields = self._arguments.model_fields
        given = {
            key: value
            for key, value in arguments.items()
            if value is not None or key not in fields or fields[key].is_required()
        }
        try:
            return self._arguments.model_validate(given)
        except ValidationError as error:
            problems = "; ".join(f"{_path(item['loc'])}: {item['msg']}" for item in error.errors()[:3])
            received = str(arguments)[:80]
            raise InvalidArguments(
                f"{self.name} was called with {received}: {problems}", "call it again with arguments of its schema"
            ) from error

    def _defaults(self) -> JsonObject:
        return {key: field.default for key, field in self._arguments.model_fields.items() if not field.is_required()}

    async def execute(self, arguments: BaseModel, context: ToolContext) -> ToolResult:
        values = {name: getattr(arguments, name) for name in type(arguments).model_fields}
        result = await (self._body(**values, context=context) if self._wants_context else self._body(**values))
        return result if isinstance(result, ToolResult) else ToolResult.of(result)


def tool(
    *,
    execution: Execution = "sequential",
    retry: Retry = "transient",
    idempotent: bool = False,
    timeout_s: float | None = 60.0,
    label: str = "",
    acts: Acts = "read",
    untrusted: bool = False,
) -> Callable[[Body], Tool]:
    """Make a tool of an async function. Its docstring is the description, its parameters are the schema; the rest is
    told at `Traits`.

    A parameter `context: ToolContext` is filled in by the loop and hidden from the model.
    """
    traits = Traits(
        execution=execution,
        retry=retry,
        idempotent=idempotent,
        timeout_s=timeout_s,
        label=label,
        acts=acts,
        untrusted=untrusted,
    )

    def make(body: Body) -> Tool:
        return FunctionTool(body, traits)

    return make


class ToolRegistry:
    """The tools of one agent, sorted by name, so that the prompt's prefix does not change (S0-07, S2-25).

    `others` gives tools that come and go while we run; it is asked anew each time. They stand behind ours, and never
    take the place of one. `skills` gives those of the skill system, whose names nothing else can have (S0-12, S0-16).
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        others: Callable[[], Iterable[Tool]] = tuple,
        skills: Callable[[], Iterable[Tool]] = tuple,
    ) -> None:
        self._tools: dict[str, Tool] = {}
        self._others = others
        self._skills = skills
        self._called: dict[str, Tool] = {}
        for item in tools:
            self.add(item)

    @property
    def taken(self) -> frozenset[str]:
        """Names that nothing of `others` can have."""
        return SKILL_TOOLS | self._tools.keys()

    def add(self, item: Tool) -> None:
        """Raises ValueError where the name is taken (S2-25) or belongs to the skill system (S0-16)."""
        if item.name in SKILL_TOOLS:
            raise ValueError(f"the tool name {item.name} belongs to the skill system")
        if item.name in self._tools:
            raise ValueError(f"there are two tools named {item.name}")
        self._tools[item.name] = item

    def get(self, name: str) -> Tool:
        """One that was called stays, for its call may be running when it goes. Raises UnknownTool, which lists what
        there is."""
        if name in self._tools:
            return self._tools[name]
        others = {item.name: item for item in self._skills()} | self._coming_and_going()
        if name in others:
            self._called[name] = others[name]
        if name not in self._called:
            names = sorted([*self._tools, *others])
            raise UnknownTool(f"there is no tool {name[:60]!r}", f"use one of: {', '.join(names)}")
        return self._called[name]

    def may_repeat(self, name: str) -> bool:
        """Whether a call to this tool may be made again by somebody who does not know of the first; an unknown tool is
        never run."""
        try:
            return self.get(name).idempotent
        except UnknownTool:
            return True

    def specs(self) -> tuple[ToolSpec, ...]:
        skills = {item.name: item for item in self._skills()}
        others = self._coming_and_going()
        return tuple(known[name].spec for known in (self._tools, skills, others) for name in sorted(known))

    def replaced(self, tools: Iterable[Tool]) -> "ToolRegistry":
        """One with these tools instead, and the same of the skill system. Raises ValueError as `add` does."""
        return ToolRegistry(tools, skills=self._skills)

    def _coming_and_going(self) -> dict[str, Tool]:
        return {item.name: item for item in self._others() if item.name not in self.taken}


def _wants_context(body: Body) -> bool:
    return "context" in inspect.signature(body).parameters


def _arguments_model(body: Body) -> type[BaseModel]:
    hints = get_type_hints(body, include_extras=True)
    fields = {
        name: (hints[name], ... if parameter.default is inspect.Parameter.empty else parameter.default)
        for name, parameter in inspect.signature(body).parameters.items()
        if name != "context"
    }
    return create_model(body.__name__, __config__=ConfigDict(extra="forbid"), **fields)  # type: ignore[call-overload, no-any-return]


def _schema(model: type[BaseModel]) -> JsonObject:
    """The JSON schema without what is paid for on every call and tells the model nothing: titles that repeat the
    names, empty defaults of what need not be given, and that there are no other arguments, which `validate` sees
    to."""
    schema = _without_titles(model.model_json_schema())
    if not isinstance(schema, dict):
        raise TypeError(f"the schema of {model.__name__} is not an object")
    for field in _fields(schema):
        if not field.get("default", True):
            del field["default"]
    return {key: value for key, value in schema.items() if key != "additionalProperties"}


def _fields(schema: JsonObject) -> list[JsonObject]:
    found = schema.get("properties")
    return [field for field in found.values() if isinstance(field, dict)] if isinstance(found, dict) else []


def _without_titles(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_without_titles(item) for item in value]
    if isinstance(value, dict):
        return {
            key: _without_titles(item) for key, item in value.items() if not (key == "title" and isinstance(item, str))
        }
    return value


def _path(location: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in location)
