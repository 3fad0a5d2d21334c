"""The model's border: what of a conversation a model gets to see, in a form that every provider takes (U-16)."""

from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import assert_never

from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    LlmMessage,
    NotificationMessage,
    StopReason,
    SummaryMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agent_core.remembered import Remembered
from agent_core.untrusted import harmless, inside, passed_on, shown

NO_RESULT = "No result provided"
STOPPED = "[The person stopped this answer.]"


class Border:
    """Takes one conversation over the border again and again; what it took before costs next to nothing."""

    def __init__(self) -> None:
        self._converted = Remembered(_as_llm)
        self._before: list[AgentMessage] = []
        """What ended before the last answer when it was asked last: nothing that comes can change how it is shown."""
        self._settled: list[LlmMessage] = []

    def of(self, messages: Sequence[AgentMessage]) -> tuple[LlmMessage, ...]:
        """As `repair(convert_to_llm(messages))`."""
        last = _last_answer(messages)
        if len(self._before) > last or not all(map(is_, self._before, messages)):
            self._before, self._settled = [], []
        new = messages[len(self._before) : last]
        self._settled += self._taken(new)
        self._before += new
        return (*self._settled, *self._taken(messages[last:]))

    def _taken(self, messages: Sequence[AgentMessage]) -> tuple[LlmMessage, ...]:
        return repair([message for message in self._converted.each(messages) if message is not None])


def convert_to_llm(messages: Iterable[AgentMessage]) -> list[LlmMessage]:
    """What of the history a model may see (S4-03): people, the model, tool results, and what stands for them."""
    return [message for message in map(_as_llm, messages) if message is not None]


def _as_llm(message: AgentMessage) -> LlmMessage | None:
    """This is the one place where what strangers may have written is marked as such."""
    match message:
        case UserMessage() | ToolResultMessage():
            return shown(message)
        case AssistantMessage():
            return message
        case SummaryMessage():
            words = inside(harmless(message.summary), "summary")  # strangers' words may be in it, and stay in it
            return _as_user(message, f"<summary>\n{words}\n</summary>") if words else None
        case NotificationMessage():
            text = f"<notification>\n{passed_on(message)}\n</notification>"
            return _as_user(message, text) if message.to_model else None
        case CustomMessage():
            return None
        case _:
            assert_never(message)


def repair(messages: Sequence[LlmMessage]) -> tuple[LlmMessage, ...]:
    """Make the history acceptable to every provider (U-16).

    Failed answers are left out; of a stopped one the words are left out, but not that it was stopped, else the model
    would answer the question before it again (C-17). Each tool call is followed by its one result, in the order of
    the calls, invented where it is missing; a result without its call is dropped.
    """
    results: dict[str, ToolResultMessage] = {}
    repaired: list[LlmMessage] = []
    for message in reversed(messages):
        match message:
            case UserMessage():
                repaired.append(message)
            case AssistantMessage():
                if message.stop_reason is StopReason.ABORTED:
                    repaired.append(message.model_copy(update={"content": (TextContent(text=STOPPED),)}))
                elif message.stop_reason is not StopReason.ERROR and message.content:
                    repaired.extend(reversed([_result(message, call, results) for call in message.tool_calls]))
                    repaired.append(message)
                results = {}
            case ToolResultMessage():
                results[message.tool_call_id] = message
            case _:
                assert_never(message)
    repaired.reverse()
    return tuple(repaired)


def _last_answer(messages: Sequence[AgentMessage]) -> int:
    """Where the last answer stands; results before it belong to other answers."""
    places = reversed(range(len(messages)))
    return next((place for place in places if isinstance(messages[place], AssistantMessage)), 0)


def _result(answer: AssistantMessage, call: ToolCall, results: Mapping[str, ToolResultMessage]) -> ToolResultMessage:
    """The result that came before the next answer, for ids may come again later."""
    return results.get(call.id) or ToolResultMessage(
        id=f"{answer.id}-{call.id}",
        created_at=answer.created_at,
        tool_call_id=call.id,
        tool_name=call.name,
        content=(TextContent(text=NO_RESULT),),
        is_error=True,
    )


def _as_user(message: SummaryMessage | NotificationMessage, text: str) -> UserMessage:
    return UserMessage(id=message.id, created_at=message.created_at, content=(TextContent(text=text),))
