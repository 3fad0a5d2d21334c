"""Properties that hold for any conversation, however often it is compacted."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.cancel import CancelToken
from agent_core.clock import new_id
from agent_core.context.request_history import RequestHistory, convert_to_llm, distinct, repair
from agent_core.events import AgentEvent, CompactionReason, MessageEnd
from agent_core.loop.state import QueryState, effective, reduce_event
from agent_core.messages import (
    AgentMessage,
    AssistantMessage,
    CustomMessage,
    ImageContent,
    NotificationMessage,
    StopReason,
    SummaryMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    message_adapter,
    text_of,
)
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure
from agent_core.origin import CLEAN, NOT_KNOWN
from tests.agent_core.context.compacting import Chat, Talker, start_chat
from tests.agent_core.context.test_context import follows_the_rules
from tests.examples import examples
from tests.messages import user

WINDOW = 8_192
PICTURE = ImageContent(data="aGk=", mime_type="image/png")
LENGTHS = st.sampled_from([3, 80, 900, 4_000])
WORDS = st.builds(lambda letter, length: letter * length, st.sampled_from(["w ", "好", "x"]), LENGTHS)


@st.composite
def rounds(draw: st.DrawFn) -> list[AgentMessage]:
    """Draw one round: a user message, an answer, tool calls with results, a failed answer or an aside."""
    kind = draw(st.sampled_from(["person", "picture", "answer", "calls", "calls", "failed", "aside"]))
    text = draw(WORDS)
    if kind == "person":
        return [user(text)]
    if kind == "picture":
        return [user("see", PICTURE)]
    if kind == "aside":
        return [
            CustomMessage(kind="mood", data={}),
            NotificationMessage(kind="task", text=text, to_model=True, origin=CLEAN),
        ]
    if kind != "calls":
        stop = StopReason.STOP if kind == "answer" else draw(st.sampled_from([StopReason.ERROR, StopReason.ABORTED]))
        return [AssistantMessage(content=(TextContent(text=text),), stop_reason=stop, origin=CLEAN)]
    names = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3, unique=True))
    wanted = tuple(ToolCall(id=name, name="t", arguments={"text": text[:200]}) for name in names)
    answered = draw(st.lists(st.sampled_from(names), unique=True))
    between: list[AgentMessage] = [user("wait")] if draw(st.booleans()) else []
    results = [
        ToolResultMessage(tool_call_id=name, tool_name="t", content=(TextContent(text=text),), origin=NOT_KNOWN)
        for name in answered
    ]
    return [AssistantMessage(content=wanted, stop_reason=StopReason.TOOL_USE, origin=CLEAN), *between, *results]


CONVERSATIONS = st.lists(rounds(), min_size=1, max_size=40).map(lambda found: [each for some in found for each in some])
TALKERS = st.sampled_from([Talker(), Talker(summary=Failure(FailureKind.FATAL)), Talker(summary="好" * 9_000)])


async def compacted(chat: Chat, messages: Sequence[AgentMessage], reason: CompactionReason = "threshold") -> QueryState:
    state = QueryState(run_id="r", session_id="s", messages=list(messages))

    async def emit(event: AgentEvent) -> None:
        reduce_event(state, event)

    await chat.compaction.compact(state, reason, chat.agent.loop.caller, emit, CancelToken())
    return state


def last_words(messages: Sequence[AgentMessage]) -> str:
    return next((text_of(each.content) for each in reversed(messages) if isinstance(each, UserMessage)), "")


@given(CONVERSATIONS, TALKERS)
@settings(max_examples=examples(100), deadline=None)
async def test_no_call_loses_its_result_and_the_person_is_still_heard(
    messages: list[AgentMessage], talker: Talker
) -> None:  # U-13, C-09, U-16
    state = await compacted(start_chat(talker), messages)

    rest = [message for message in state.messages if not isinstance(message, SummaryMessage)]
    given_ids = [message.id for message in messages]
    assert [message.id for message in rest] == given_ids[len(given_ids) - len(rest) :]
    kept = state.messages[1:] if isinstance(state.messages[0], SummaryMessage) else state.messages
    assert _orphans(kept) <= _orphans(messages)
    request = repair(convert_to_llm(state.messages))
    assert follows_the_rules(request)
    if _has_words(messages):
        spoken = last_words(messages)[:50]
        assert any(spoken in text_of(message.content) for message in request if isinstance(message, UserMessage))


@given(CONVERSATIONS, TALKERS)
@settings(max_examples=examples(60), deadline=None)
async def test_it_fills_half_of_the_window_or_holds_only_what_has_to_stay(
    messages: list[AgentMessage], talker: Talker
) -> None:  # D-07
    chat = start_chat(talker)
    state = await compacted(chat, messages)

    tokens = chat.agent.context.tokens(state)
    if tokens > WINDOW // 2:
        again = await compacted(chat, state.messages)
        assert chat.agent.context.tokens(again) >= 0.9 * tokens
    assert not (chat.is_due(state) and chat.is_due(await compacted(chat, state.messages)))


@given(CONVERSATIONS)
@settings(max_examples=examples(40), deadline=None)
async def test_the_goal_outlives_any_number_of_compactions_without_a_model(
    more: list[AgentMessage],
) -> None:  # S3-27, S0-28
    chat = start_chat(Talker(summary=Failure(FailureKind.FATAL)))
    messages: list[AgentMessage] = [user("Book a flight to Tokyo."), *more, user("And now?")]

    for _ in range(3):
        state = await compacted(chat, messages, "manual")
        if isinstance(state.messages[0], SummaryMessage):
            assert state.messages[0].summary.startswith("## Goal\nBook a flight to Tokyo.")
        messages = [*state.messages, *more, user("And now?")]


@given(CONVERSATIONS)
@settings(max_examples=examples(40), deadline=None)
async def test_a_restart_finds_the_same_conversation(messages: list[AgentMessage]) -> None:  # S3-17
    chat = start_chat()
    state = QueryState(run_id="r", session_id="s", messages=list(messages))
    written = list(messages)

    async def emit(event: AgentEvent) -> None:
        reduce_event(state, event)
        if isinstance(event, MessageEnd):
            written.append(event.message)

    for _ in range(2):
        await chat.compaction.compact(state, "threshold", chat.agent.loop.caller, emit, CancelToken())
        more = [user("more " * 900), *(each.model_copy(update={"id": new_id()}) for each in messages[:3])]
        written += more
        state.messages += more

    read = [message_adapter.validate_json(message.model_dump_json()) for message in written]
    assert effective(read) == effective(state.messages)
    assert convert_to_llm(effective(read)) == convert_to_llm(state.messages)


@given(CONVERSATIONS, st.lists(st.integers(0, 100), max_size=6))
@settings(max_examples=examples(100), deadline=None)
def test_what_is_taken_over_the_border_bit_by_bit_is_what_is_taken_at_once(
    messages: list[AgentMessage], stops: list[int]
) -> None:  # U-16, S3-34
    border = RequestHistory()

    for stop in [*(place % (len(messages) + 1) for place in stops), len(messages)]:
        part = messages[:stop]
        assert border.of(part) == (*distinct(repair(convert_to_llm(part)), set()),)


def _orphans(messages: Sequence[AgentMessage]) -> set[str]:
    """Return the ids of tool results that no preceding answer called for."""
    wanted: set[str] = set()
    found: set[str] = set()
    for message in messages:
        if isinstance(message, AssistantMessage):
            wanted = {call.id for call in message.tool_calls}
        elif isinstance(message, ToolResultMessage) and message.tool_call_id not in wanted:
            found.add(message.id)
    return found


def _has_words(messages: Sequence[AgentMessage]) -> bool:
    return any(isinstance(message, UserMessage) for message in messages)
