"""What a provider hands out with an answer or a call goes back to that same model untouched, and to no other."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from agent_core.clock import new_id
from agent_core.loop.state import effective
from agent_core.messages import (
    AssistantMessage,
    Opaque,
    StopReason,
    SummaryMessage,
    ThinkingContent,
    Usage,
    message_adapter,
)
from agent_core.models.answer import Answer
from agent_core.models.chunks import read_chunk
from agent_core.models.llm import LlmRequest, ModelInfo
from agent_core.models.openai_wire import Reader, WireText, messages_to_wire
from agent_core.models.private_fields import MOST
from agent_core.origin import CLEAN
from tests.agent_core.models.clients import model_info
from tests.agent_core.models.raw_models import anthropic, call, gemini, openai, tables
from tests.emulators.model_script import Json
from tests.messages import user

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

DETAILS: list[JsonValue] = [
    {"type": "reasoning.text", "text": "Let me think.", "index": 0, "format": "x", "signature": "s1"},
    {"type": "reasoning.encrypted", "data": "b3BhcXVl", "index": 1, "id": "rs_1"},
]
SIGNED: Json = {"google": {"thought_signature": "c2lnbmVk/+="}}
CALLS: Json = {"tool_calls": [call()]}


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "thinking", "thought"])
async def test_reasoning_goes_back_with_the_calls_in_the_field_in_which_it_came(name: str) -> None:
    async with tables() as opens:
        chat = await opens.own(
            openai({name: "Let me "}, {name: "think."}, CALLS, finish="tool_calls"), openai({"content": "Noon."})
        )
        await chat.goes_on("What time is it?")
        done = await chat.goes_on()
        (answer,) = chat.server.answers_of(1)

    assert done.failure is None
    assert answer.keys() == {"role", "content", "tool_calls", name}
    assert answer[name] == "Let me think."
    assert chat.shown().strip() == "Noon."


async def test_the_mark_of_a_chunk_with_thoughts_does_not_go_back_with_the_whole_answer() -> None:
    async with tables() as opens:
        thought: Json = {"content": "Let me think.", "thought": True}
        chat = await opens.own(openai(thought, CALLS, finish="tool_calls"), openai({"content": "Noon."}))
        await chat.goes_on("What time is it?")
        await chat.goes_on()
        (answer,) = chat.server.answers_of(1)

    assert answer.keys() == {"role", "content", "tool_calls"}


async def test_reasoning_goes_back_through_litellm_too() -> None:
    words: list[Json] = [{"reasoning_content": "Let me "}, {"reasoning_content": "think."}]
    async with tables() as opens:
        chat = await opens.litellm(
            "deepseek/deepseek-v4-flash", openai(*words, CALLS, finish="tool_calls"), openai({"content": "Noon."})
        )
        await chat.goes_on("What time is it?")
        await chat.goes_on()
        (answer,) = chat.server.answers_of(1)

    assert answer["reasoning_content"] == "Let me think."


async def test_details_of_reasoning_come_in_pieces_and_go_back_whole() -> None:
    pieces: list[Json] = [
        {"reasoning": "Let me ", "reasoning_details": [{"type": "reasoning.text", "text": "Let me ", "index": 0}]},
        {"reasoning": "think.", "reasoning_details": [{"type": "reasoning.text", "text": "think.", "index": 0}]},
        {"reasoning_details": [{"type": "reasoning.text", "signature": "s1", "index": 0, "format": "x"}]},
        {"reasoning_details": DETAILS[1:]},
    ]
    async with tables() as opens:
        chat = await opens.own(openai(*pieces, CALLS, finish="tool_calls"), openai({"content": "Noon."}))
        await chat.goes_on("What time is it?")
        await chat.goes_on()
        (answer,) = chat.server.answers_of(1)

    assert answer["reasoning_details"] == DETAILS
    assert answer["reasoning"] == "Let me think."


async def test_a_signature_on_a_call_goes_back_on_that_call() -> None:
    both: Json = {"tool_calls": [call(extra_content=SIGNED), call(identity="c2", index=1)]}
    async with tables() as opens:
        chat = await opens.own(openai(both, finish="tool_calls"), openai({"content": "Noon."}))
        await chat.goes_on("What time is it?")
        await chat.goes_on()
        (answer,) = chat.server.answers_of(1)

    plain_call: Json = {"type": "function", "function": {"name": "clock", "arguments": "{}"}}
    assert answer["tool_calls"] == [{"id": "c1", **plain_call, "extra_content": SIGNED}, {"id": "c2", **plain_call}]


async def test_geminis_own_signature_goes_back_through_litellm() -> None:
    signed: Json = {"functionCall": {"name": "clock", "args": {}}, "thoughtSignature": "c2lnbmVk/+="}
    async with tables() as opens:
        chat = await opens.litellm("gemini/gemini-3-flash", gemini(signed), gemini({"text": "Noon."}))
        await chat.goes_on("What time is it?")
        done = await chat.goes_on()
        sent = json.dumps(chat.server.bodies[1])

    assert done.failure is None
    assert '"thoughtSignature": "c2lnbmVk/+="' in sent
    assert "__thought__" not in sent


THOUGHTS: list[Json] = [
    {"type": "thinking", "thinking": "First.", "signature": "one"},
    {"type": "thinking", "thinking": "Second.", "signature": "two"},
    {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"},
    {"type": "text", "text": "One moment."},
    {"type": "thinking", "thinking": "Third.", "signature": "three"},
    {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {}},
]


async def test_each_thinking_block_goes_back_to_anthropic_at_its_place_with_its_own_signature() -> None:
    async with tables() as opens:
        chat = await opens.litellm(
            "anthropic/claude-test",
            anthropic(*THOUGHTS, finish="tool_use"),
            anthropic({"type": "text", "text": "Noon."}),
        )
        await chat.goes_on("What time is it?")
        await chat.goes_on()
        (answer,) = chat.server.answers_of(1)

    assert answer["content"] == THOUGHTS
    assert "First." not in chat.shown()


@pytest.mark.parametrize("begins", ["thinking", "redacted_thinking"])
async def test_thoughts_whose_words_are_hidden_stay_apart(begins: str) -> None:
    hidden: list[Json] = [
        {"type": "thinking", "thinking": "", "signature": "one"}
        if begins == "thinking"
        else {"type": "redacted_thinking", "data": "one"},
        {"type": "thinking", "thinking": "", "signature": "two"},
        {"type": "tool_use", "id": "toolu_1", "name": "clock", "input": {}},
    ]
    async with tables() as opens:
        chat = await opens.litellm(
            "anthropic/claude-test", anthropic(*hidden, finish="tool_use"), anthropic({"type": "text", "text": "Noon."})
        )
        await chat.goes_on("What time is it?")
        await chat.goes_on()
        (answer,) = chat.server.answers_of(1)

    assert answer["content"] == hidden


async def test_another_model_gets_only_words_and_the_first_gets_its_own_back_afterwards() -> None:
    async with tables() as opens:
        first = await opens.own(
            openai({"reasoning_content": "Hm."}, {"tool_calls": [call(extra_content=SIGNED)]}, finish="tool_calls"),
            openai({"content": "Noon."}),
            openai({"content": "It was noon."}),
        )
        await first.goes_on("What time is it?")
        other = await opens.own(openai({"content": "Noon."}), said=first.said)
        await other.goes_on()
        renamed = replace(first, model=model_info("another"), said=[*first.said])
        await renamed.goes_on()
        first.said[:] = other.said
        await first.goes_on("And before?")

    for foreign in (*other.server.answers_of(0), *first.server.answers_of(1)):
        assert not {"reasoning_content"} & foreign.keys()
        assert "extra_content" not in str(foreign)
    mine, theirs = first.server.answers_of(2)
    assert (mine["reasoning_content"], theirs) == ("Hm.", {"role": "assistant", "content": "Noon."})
    assert "extra_content" in str(mine)


async def test_a_stopped_answer_keeps_nothing() -> None:
    async with tables() as opens:
        chat = await opens.own(openai({"reasoning_content": "Hm."}, {"content": "No"}), openai({"content": "Yes."}))
        await chat.goes_on("Is it?")
        answer = chat.said[-1]
        assert isinstance(answer, AssistantMessage)
        chat.said[-1] = answer.model_copy(update={"stop_reason": StopReason.ABORTED})
        await chat.goes_on("Is it now?")
        (sent,) = chat.server.answers_of(1)

    assert sent.keys() == {"role", "content"}


async def test_what_is_too_large_is_dropped_and_the_answer_stays() -> None:
    large: Json = {"tool_calls": [call(extra_content={"signature": "x" * MOST})]}
    async with tables() as opens:
        chat = await opens.own(openai({"content": "Wait."}, large, finish="tool_calls"), openai({"content": "Noon."}))
        done = await chat.goes_on("What time is it?")
        again = await chat.goes_on()

    assert (done.failure, again.failure) == (None, None)
    assert done.message.tool_calls[0].opaque is None
    assert len(done.message.model_dump_json()) < 2000


def test_a_compaction_of_what_came_before_leaves_it_as_it_is() -> None:
    opaque = Opaque(provider="host", model="m", reasoning_in=("reasoning",), fields={"extra_content": SIGNED})
    thought = ThinkingContent(thinking="Hm.")
    usage = Usage(input=9, total=9)
    answer = AssistantMessage(content=(thought,), stop_reason=StopReason.STOP, opaque=opaque, usage=usage, origin=CLEAN)
    old, asked = user("Hi"), user("And?")
    boundary = SummaryMessage(
        summary="They said hello.", first_kept_id=asked.id, tokens_before=9, short_until=answer.id, origin=CLEAN
    )

    _, _, kept = effective([old, asked, answer, boundary])

    assert isinstance(kept, AssistantMessage)
    assert (kept.opaque, kept.content) == (opaque, (thought,))


def test_a_message_of_an_earlier_version_still_loads() -> None:
    old = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s", "redacted": False},
            {"type": "tool_call", "id": "c", "name": "clock", "arguments": {}, "arguments_error": None},
        ],
        "stop_reason": "tool_use",
        "model": "anthropic/claude-test",
    }
    message = message_adapter.validate_json(json.dumps(old))
    assert isinstance(message, AssistantMessage)
    (sent,) = messages_to_wire(LlmRequest(system="", messages=(message,)), Reader("anthropic", "anthropic/claude-test"))
    assert sent["thinking_blocks"] == [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]


# Property: what came in goes out, byte for byte, to its model; and nothing of it to another.

plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
some = plain.filter(bool)
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.booleans() | st.integers(-9, 9) | plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain, inner, max_size=3),
    max_leaves=6,
).filter(bool)


@st.composite
def marks(draw: st.DrawFn) -> Json:
    """Draw the private fields of an answer or a call."""
    drawn: Json = {}
    if draw(st.booleans()):
        drawn["extra_content"] = draw(st.dictionaries(plain, values, min_size=1))
    if draw(st.booleans()):
        drawn["thought_signature"] = draw(some)
    return drawn


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[Json], Json, list[Json]]:
    """Draw the deltas of an answer, its private fields and those of its calls."""
    words = draw(st.lists(some, max_size=4))
    fields = draw(st.lists(st.sampled_from(["reasoning_content", "reasoning"]), min_size=1, unique=True))
    deltas: list[Json] = [dict.fromkeys(fields, each) for each in words]
    private = draw(marks())
    deltas += [{name: value} for name, value in private.items()]
    if words:
        private |= dict.fromkeys(fields, "".join(words))
    deltas += [{"content": each} for each in draw(st.lists(plain, max_size=3))]
    calls = draw(st.lists(marks(), min_size=1, max_size=3))
    deltas += [
        {"tool_calls": [{**call(identity=f"c{number}", index=number), **more}]} for number, more in enumerate(calls)
    ]
    return deltas, private, calls


PUBLIC = {"role", "content", "tool_calls", "id", "type", "function"}


def calls_in(message: Json) -> list[Json]:
    calls = message["tool_calls"]
    assert isinstance(calls, list)
    return [each for each in calls if isinstance(each, dict)]


@given(answers())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_came_in_goes_out_to_its_model_and_to_no_other(drawn: tuple[list[Json], Json, list[Json]]) -> None:
    deltas, private, calls = drawn
    answer = Answer(ModelInfo(id="m"), new_id, provider="host")
    for delta in deltas:
        read = read_chunk({"choices": [{"index": 0, "delta": delta}]})
        assert list(answer.take(read)) is not None
    stored = message_adapter.validate_json(answer.done().message.model_dump_json())
    assert isinstance(stored, AssistantMessage)
    request = LlmRequest(system="", messages=(user("Hi"), stored))

    _, own = messages_to_wire(request, Reader("host", "m"))
    assert {name: own[name] for name in own if name not in PUBLIC} == private
    assert [{name: each[name] for name in each if name not in PUBLIC} for each in calls_in(own)] == calls

    for reader in (Reader("host", "another"), Reader("elsewhere", "m"), Reader("", "m")):
        _, foreign = messages_to_wire(request, reader)
        assert foreign.keys() <= PUBLIC
        assert all(each.keys() <= PUBLIC for each in calls_in(foreign))
    written = WireText()
    for reader in (Reader("host", "m"), Reader("host", "another"), Reader("host", "m")):
        assert json.loads(written.of(request, reader)) == messages_to_wire(request, reader)
