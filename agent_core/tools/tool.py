"""Tools, made from functions with type hints and a docstring."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, TypedDict, Unpack, get_type_hints

from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError, create_model

from agent_core import sources
from agent_core.cancel import CancelToken
from agent_core.messages import AgentMessage, AssistantMessage, JsonObject
from agent_core.models.llm import ToolSpec
from agent_core.origin import CLEAN
from agent_core.skills.chat_skills import ChatSkills
from agent_core.skills.token_budget import TokenBudget
from agent_core.tasks import TaskRecord
from agent_core.tool_result import ToolResult
from agent_core.tools.argument_schema import mended
from agent_core.workspace.keeper import Author, Keeper, KeepsNothing
from agent_core.workspace.provenance import FileSources

Execution = Literal["sequential", "parallel"]
Retry = Literal["never", "transient", "always"]
Acts = Literal["read", "write", "net", "exec", "admin"]
"""The most that a call can do: `read` the workspace or Parley's own state; `write` the workspace or to its own chat;
`net`: send something to an address that the model chose; `exec`: run a program; `admin`: change schedules, skills or
settings."""


ZoneOfUser = Callable[[str | None], tzinfo]


class ToolFailed(Exception):
    """A tool failed; says why and what to try instead, in text for the model."""

    def __init__(self, fact: str, advice: str = "tell the person, or try another way") -> None:
        super().__init__(fact)
        self.fact = fact
        self.advice = advice
        self.origin = CLEAN
        """The origin of the text; data if it quotes any."""


class RetryableToolError(ToolFailed):
    """The tool failed without changing anything, and the same call may succeed a moment later."""


class InvalidArguments(ToolFailed):
    """The model's arguments do not fit the tool's schema."""


def _ignore(_: object) -> None:
    """Ignore an update of a call, a task record, or a failure."""


class ToolEnvironment(Struct, frozen=True):
    """The place and the user for which tools run; without the chat's platform and without secrets."""

    session_id: str
    workspace: Path
    """The chat's own folder; it may not exist yet."""
    chat_id: str | None = None
    user_id: str | None = None
    """The user who caused the run."""
    skills: ChatSkills | None = None
    token_budget: Callable[[], TokenBudget] = TokenBudget
    """Returns the tokens left for skills."""
    keeper: Keeper = field(default_factory=KeepsNothing)
    """Records what tools change, so that it can be undone."""
    files: FileSources | None = None
    """Sources of the workspace's files; None: only those are known that are written in this call."""
    zone_of: ZoneOfUser | None = None
    """Returns the time zone of the user, of whom the id is given; None: it is not known."""


class ToolContext:
    """A running tool's view of its call and its environment."""

    def __init__(
        self,
        call_id: str,
        environment: ToolEnvironment,
        *,
        cancel: CancelToken | None = None,
        messages: Sequence[AgentMessage] = (),
        on_update: Callable[[ToolResult], None] = _ignore,
        on_task: Callable[[TaskRecord], None] = _ignore,
    ) -> None:
        """Create the context of one call.

        Args:
            cancel: Stops the run, and with it the call.
            messages: The conversation so far.
            on_update: Shows a partial result; ignored once the tool has returned.
            on_task: Reports the status of a task that this call started; also ignored after the return.
        """
        self.call_id = call_id
        self.session_id = environment.session_id
        self.chat_id = environment.chat_id
        self.user_id = environment.user_id
        self.workspace = environment.workspace
        self.cancel = cancel or CancelToken()
        self.on_update = on_update
        self.on_task = on_task
        self.messages = messages
        self.skills = environment.skills
        self.token_budget = environment.token_budget
        self.keeper = environment.keeper
        self.files = environment.files or FileSources(environment.workspace)
        self._zone_of = environment.zone_of

    def zone(self) -> tzinfo | None:
        """Return the time zone of the user who caused the run, if it is known."""
        return self._zone_of(self.user_id) if self._zone_of else None

    def author(self, tool: str) -> Author:
        """Return the author of this call's changes, for the keeper."""
        return Author(tool, self.call_id, self.user_id)

    @property
    def answer_id(self) -> str:
        """Return the id of the answer that contains the call; the call's own id may repeat within a conversation."""
        for message in reversed(self.messages):
            if isinstance(message, AssistantMessage) and any(call.id == self.call_id for call in message.tool_calls):
                return message.id
        return ""


_Parameter = tuple[str, object, object]
"""Name, type and default of a parameter; `...` without a default."""
Body = Callable[..., Awaitable[str | ToolResult]]
Check = Callable[[BaseModel, ToolContext], None]
"""Raises ToolFailed for a call that is bound to fail."""


def _nothing(_arguments: BaseModel, _context: ToolContext) -> None:
    """Accept any call."""


class Traits(Struct, frozen=True):
    """Properties that decide how a tool's calls are handled.

    `parallel` tools only read and may run beside others. `idempotent` tools may be run again when it is unknown whether
    they ran before (after a crash). Every parallel tool is idempotent.
    """

    execution: Execution = "sequential"
    retry: Retry = "transient"
    idempotent: bool = False
    timeout_s: float | None = 60.0
    label: str = ""
    """The call as shown to users, with `{argument}` placeholders; empty: the tool's name."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """The label in other languages, by their tags."""
    acts: Acts = "read"
    untrusted: bool = False
    """True if results may contain untrusted input, which may address the model."""
    source: str = ""
    """Source of that input, see `sources`; empty: each result names its own, or it is the tool."""
    check: Check = _nothing
    """Runs before a user is asked to approve a call."""
    waits: bool = False
    """True if the tool lets time pass, so that a repeated call may see something new."""
    asks: bool = False
    """True if a call is a question to people. An answer given before the program stopped is not lost."""
    for_files: bool = False
    """True if it is of no use without a file in the workspace: models are offered it once there is one."""


class Tool(ABC):
    """A tool: its description for the model, and how calls are validated and run."""

    def __init__(self, name: str, traits: Traits) -> None:
        self.name = name
        self.label = traits.label
        self.execution = traits.execution
        self.labels = traits.labels
        self.retry = traits.retry
        self.idempotent = traits.idempotent or traits.execution == "parallel"
        self.timeout_s = traits.timeout_s
        self.acts = traits.acts
        self.untrusted = traits.untrusted
        self.source = traits.source or sources.tool(name)
        self.check = traits.check
        self.waits = traits.waits
        self.asks = traits.asks
        self.for_files = traits.for_files
        self.failed: Callable[[Exception], None] = _ignore
        """Is told of what a call raised other than ToolFailed, and of one that took too long."""

    @property
    @abstractmethod
    def spec(self) -> ToolSpec:
        """The tool as the model sees it."""

    @abstractmethod
    def validate(self, arguments: JsonObject) -> BaseModel:
        """Return the arguments for `execute`. Raises InvalidArguments that says what does not fit."""

    def leave_out(self) -> bool:
        """Stop offering this tool, because a model's server refuses it. Returns False if it cannot be left out."""
        return False

    def describe(self, arguments: JsonObject) -> str:
        """Return the call as shown to users: the label with its placeholders filled in, or the name."""
        return _filled(self.label, self._shown(arguments)) or self.name

    def describe_in(self, arguments: JsonObject) -> dict[str, str]:
        """Return the call as shown to users in other languages, by their tags, without those that lack an argument."""
        if not self.labels:
            return {}
        shown = self._shown(arguments)
        found = {language: _filled(text, shown) for language, text in self.labels.items()}
        return {language: text for language, text in found.items() if text}

    @abstractmethod
    async def execute(self, arguments: BaseModel, context: ToolContext) -> ToolResult:
        """Run the tool with arguments that `validate` returned; may raise anything."""

    def _shown(self, arguments: JsonObject) -> dict[str, str]:
        """Return the arguments, or their defaults, as a label shows them."""
        return {key: str(value)[:60] for key, value in {**self._defaults(), **arguments}.items()}

    def _defaults(self) -> JsonObject:
        return {}


def _filled(label: str, shown: Mapping[str, str]) -> str:
    """Fill in the placeholders of a label; empty if the model left one of them out, or the label is malformed."""
    try:
        return label.format(**shown).strip()
    except (AttributeError, KeyError, IndexError, ValueError):
        return ""


class FunctionTool(Tool):
    """A tool made from an async function."""

    def __init__(self, body: Body, traits: Traits) -> None:
        super().__init__(body.__name__, traits)
        self._body = body
        self._parameters = _parameters(body)
        self._wants_context = _wants_context(body)

    @cached_property
    def spec(self) -> ToolSpec:
        """Made when a model is first offered the tool, as schemas take long to make."""
        description = inspect.cleandoc(self._body.__doc__ or "")
        return ToolSpec(name=self.name, description=description, parameters=_schema(self._arguments))

    @cached_property
    def _arguments(self) -> type[BaseModel]:
        return _arguments_model(self._body.__name__, self._parameters)

    def validate(self, arguments: JsonObject) -> BaseModel:
        """Return the arguments, coerced on a copy; null for an optional argument counts as left out.

        Raises InvalidArguments that names each field that does not fit and what was received.
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

    def mistakes(self) -> Iterator[str]:
        """Yield what is wrong with the function, although the tool could be made: calls would fail."""
        if is_not_async(self._body):
            yield f"the tool {self.name} is `def`, and has to be `async def`"
        for name, hint, default in self._parameters:
            if default is not ...:
                try:
                    TypeAdapter(hint).validate_python(default)  # type: ignore[arg-type]  # it takes any annotation
                except ValidationError:
                    yield f"the default {default!r} of the parameter {name} of the tool {self.name} is not of its type"

    def _defaults(self) -> JsonObject:
        return {key: field.default for key, field in self._arguments.model_fields.items() if not field.is_required()}

    async def execute(self, arguments: BaseModel, context: ToolContext) -> ToolResult:
        values = {name: getattr(arguments, name) for name in type(arguments).model_fields}
        result = await (self._body(**values, context=context) if self._wants_context else self._body(**values))
        return result if isinstance(result, ToolResult) else ToolResult.of(result, CLEAN)


class TraitOptions(TypedDict, total=False):
    """The options of `tool`, as described in `Traits`."""

    execution: Execution
    retry: Retry
    idempotent: bool
    timeout_s: float | None
    label: str
    labels: Mapping[str, str]
    acts: Acts
    untrusted: bool
    source: str
    waits: bool
    asks: bool
    for_files: bool


def tool(**options: Unpack[TraitOptions]) -> Callable[[Body], Tool]:
    """Decorate an async function to make it a tool: the docstring is its description, the parameters its schema.

    A parameter `context: ToolContext` is filled in by the loop and hidden from the model.
    """
    traits = Traits(**options)

    def make(body: Body) -> Tool:
        return FunctionTool(body, traits)

    return make


def is_not_async(function: Callable[..., object]) -> bool:
    """Return True for a function that is awaited, and is plainly `def`: nothing says that it returns an awaitable."""
    if not (inspect.isfunction(function) or inspect.ismethod(function)) or inspect.iscoroutinefunction(function):
        return False
    return function.__name__ != "<lambda>" and not hasattr(function, "__wrapped__") and not _says_awaitable(function)


def _says_awaitable(function: Callable[..., object]) -> bool:
    said = str(function.__annotations__.get("return", ""))
    return "Awaitable" in said or "Coroutine" in said or "Future" in said or "Task" in said


def _wants_context(body: Body) -> bool:
    return "context" in inspect.signature(body).parameters


def _parameters(body: Body) -> tuple[_Parameter, ...]:
    """Return the parameters of a tool. Raises ValueError for one without a type."""
    hints = get_type_hints(body, include_extras=True)
    parameters = {name: each for name, each in inspect.signature(body).parameters.items() if name != "context"}
    if untyped := sorted(parameters.keys() - hints.keys()):
        raise ValueError(f"the tool {body.__name__} has a parameter without a type: {', '.join(untyped)}")
    return tuple(
        (name, hints[name], ... if each.default is inspect.Parameter.empty else each.default)
        for name, each in parameters.items()
    )


_UNTOLD = frozenset({"title", "minLength"})
"""Of a schema; a parameter may have such a name, too."""


@cache
def _arguments_model(name: str, parameters: tuple[_Parameter, ...]) -> type[BaseModel]:
    """Return the model of a tool's arguments; cached, because agents of tasks and jobs make the same tools again."""
    fields = {each: (hint, default) for each, hint, default in parameters}
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields)  # type: ignore[call-overload, no-any-return]


@cache
def _schema(model: type[BaseModel]) -> JsonObject:
    """Return the JSON schema without titles, least lengths, empty defaults and `additionalProperties`: they cost tokens
    on every call and tell the model nothing (`validate` refuses empty and unknown arguments)."""
    schema = mended(_told(model.model_json_schema()))
    for parameter in _properties(schema):
        if not parameter.get("default", True):
            del parameter["default"]
    return {key: value for key, value in schema.items() if key != "additionalProperties"}


def _properties(schema: JsonObject) -> list[JsonObject]:
    found = schema.get("properties")
    return [field for field in found.values() if isinstance(field, dict)] if isinstance(found, dict) else []


def _told(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_told(item) for item in value]
    if isinstance(value, dict):
        return {key: _told(item) for key, item in value.items() if key not in _UNTOLD or isinstance(item, dict)}
    return value


def _path(location: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in location)
