"""The request history: the conversation as provider messages, in a form that every provider accepts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import is_
from typing import assert_never

from agent_core.identity_cache import IdentityCache
from agent_core.loop.answer import asks_for_rest
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
    user,
)
from agent_core.origin import CLEAN
from agent_core.untrusted import harmless, inside, passed_on, shown

NO_RESULT = "No result provided"
STOPPED = "[The person stopped this answer.]"


class RequestHistory:
    """Converts a growing conversation repeatedly; only messages added since the last call cost time."""

    def __init__(self) -> None:
        self._converted = IdentityCache(_as_llm)
        self._before: list[AgentMessage] = []
        """Messages before the last answer at the last call; later messages cannot change their conversion."""
        self._settled: list[LlmMessage] = []
        self._ids: set[str] = set()
        """The ids of the calls in these."""

    def of(self, messages: Sequence[AgentMessage]) -> tuple[LlmMessage, ...]:
        """Return `repair(convert_to_llm(messages))`, with an id of its own for each call."""
        last = _last_answer(messages)
        if len(self._before) > last or not all(map(is_, self._before, messages)):
            self._before, self._settled, self._ids = [], [], set()
        new = messages[len(self._before) : last]
        self._settled += distinct(self._taken(new), self._ids)
        self._before += new
        return (*self._settled, *distinct(self._taken(messages[last:]), self._ids.copy()))

    def _taken(self, messages: Sequence[AgentMessage]) -> tuple[LlmMessage, ...]:
        wanted = without_stale_notes(messages)
        return repair([message for message in self._converted.each(wanted) if message is not None])


def convert_to_llm(messages: Iterable[AgentMessage]) -> list[LlmMessage]:
    """Return the messages that a model may see: of users, the model and tools, and summaries and notifications."""
    return [message for message in map(_as_llm, without_stale_notes(tuple(messages))) if message is not None]


def without_stale_notes(messages: Sequence[AgentMessage]) -> Sequence[AgentMessage]:
    """Drop notes that asked for the rest of an answer but got none, because the model failed.

    The user has written since, and a model that still reads the note would obey it instead.
    """
    if not any(asks_for_rest(message) for message in messages if isinstance(message, NotificationMessage)):
        return messages
    kept: list[AgentMessage] = []
    is_answered = True  # nothing came since: the note belongs to this request
    for message in reversed(messages):
        if asks_for_rest(message) and not is_answered:
            continue
        kept.append(message)
        if not _says_nothing(message):
            is_answered = isinstance(message, AssistantMessage)
    kept.reverse()
    return kept


def _says_nothing(message: AgentMessage) -> bool:
    """Return True for messages without content for the model: failed answers, and notifications to users only."""
    match message:
        case AssistantMessage():
            return message.stop_reason is StopReason.ERROR
        case NotificationMessage():
            return not message.to_model
        case CustomMessage():
            return True
        case _:
            return False


def _as_llm(message: AgentMessage) -> LlmMessage | None:
    """Convert a message. This is the only place where untrusted input is marked for the model."""
    match message:
        case UserMessage() | ToolResultMessage():
            return shown(message)
        case AssistantMessage():
            return message
        case SummaryMessage():
            words = inside(harmless(message.summary), "summary")  # untrusted input must not close the tag
            return _as_user(message, f"<summary>\n{words}\n</summary>") if words else None
        case NotificationMessage():
            text = f"<notification>\n{passed_on(message)}\n</notification>"
            return _as_user(message, text) if message.to_model else None
        case CustomMessage():
            return None
        case _:
            assert_never(message)


def repair(messages: Sequence[LlmMessage]) -> tuple[LlmMessage, ...]:
    """Make the history acceptable to every provider.

    Failed answers are dropped. A stopped answer is replaced by a note that it was stopped; otherwise the model would
    answer the question again. Each tool call is followed by exactly one result, in the order of the calls, which is
    made up if missing; a result without a call is dropped.
    """
    results: dict[str, ToolResultMessage] = {}
    repaired: list[LlmMessage] = []
    for message in reversed(messages):
        match message:
            case UserMessage():
                repaired.append(message)
            case AssistantMessage():
                if message.stop_reason is StopReason.ABORTED:
                    stopped = {"content": (TextContent(text=STOPPED),), "opaque": None}
                    repaired.append(message.model_copy(update=stopped))
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


def distinct(messages: Iterable[LlmMessage], used: set[str]) -> Iterator[LlmMessage]:
    """Yield repaired messages, in which a call whose id an earlier one has gets another one, and its result as well.

    Small servers count the calls of each answer anew, and Anthropic refuses such a conversation.

    Args:
        messages: The messages.
        used: The ids of earlier calls, to which those of these are added.
    """
    others: dict[str, str] = {}
    for message in messages:
        if isinstance(message, AssistantMessage) and (calls := message.tool_calls):
            others = _others([call.id for call in calls], used)
            used.update(others.get(call.id, call.id) for call in calls)
            yield _renamed(message, others) if others else message
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in others:
            yield message.model_copy(update={"tool_call_id": others[message.tool_call_id]})
        else:
            yield message


def _others(ids: Sequence[str], used: Collection[str]) -> dict[str, str]:
    """Return the new ids of those of one answer that are used already."""
    taken, others = {*used, *ids}, dict[str, str]()
    for each in ids:
        if each in used and each not in others:
            others[each] = next(new for number in count(len(used)) if (new := f"{each}_{number}") not in taken)
            taken.add(others[each])
    return others


def _renamed(answer: AssistantMessage, others: Mapping[str, str]) -> AssistantMessage:
    content = (
        part.model_copy(update={"id": others.get(part.id, part.id)}) if isinstance(part, ToolCall) else part
        for part in answer.content
    )
    return answer.model_copy(update={"content": tuple(content)})


def _last_answer(messages: Sequence[AgentMessage]) -> int:
    """Return the position of the last answer that did not fail; results before it belong to other answers."""
    for place in reversed(range(len(messages))):
        message = messages[place]
        if isinstance(message, AssistantMessage) and message.stop_reason is not StopReason.ERROR:
            return place
    return 0


def _result(answer: AssistantMessage, call: ToolCall, results: Mapping[str, ToolResultMessage]) -> ToolResultMessage:
    """Return the call's result from before the next answer, since ids may be reused later."""
    return results.get(call.id) or ToolResultMessage(
        id=f"{answer.id}-{call.id}",
        created_at=answer.created_at,
        tool_call_id=call.id,
        tool_name=call.name,
        content=(TextContent(text=NO_RESULT),),
        origin=CLEAN,
        is_error=True,
    )


def _as_user(message: SummaryMessage | NotificationMessage, text: str) -> UserMessage:
    return user(text, origin=message.origin).model_copy(update={"id": message.id, "created_at": message.created_at})
