"""A parameter that a server refuses is dropped or renamed once, and that is remembered for its model."""

import json
from pathlib import Path

import pytest

from agent_core.agent import Agent
from agent_core.context.context import ContextManager
from agent_core.loop.agent_loop import AgentLoop, Models
from agent_core.loop.calls import ToolSetup
from agent_core.loop.limits import LoopLimits
from agent_core.models.llm import FailureCause, FailureKind
from agent_core.models.manner import Manner, learned
from agent_core.tools.registry import ToolRegistry
from agent_core.tools.tool import ToolEnvironment
from gateway.runs.answer import answer_text
from tests.agent_core.kit import echo
from tests.agent_core.models.clients import OPTIONS
from tests.agent_core.models.raw_models import Chat, anthropic, call, openai, tables
from tests.emulators.model_script import Json

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

THINKS = OPTIONS.model_copy(update={"thinking": "low", "thinking_budgets": {"low": 1024}})
NOON = openai({"content": "Noon."})


def refusal(message: str, status: int = 400, **more: str) -> tuple[int, bytes]:
    return status, json.dumps({"error": {"message": message, "type": "invalid_request_error", **more}}).encode()


LIMIT = refusal(
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    param="max_tokens",
    code="unsupported_parameter",
)
HEAT = refusal(
    "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
    param="temperature",
    code="unsupported_value",
)
NO_TOOLS = refusal("registry.ollama.ai/library/gemma:2b does not support tools")


async def test_the_limit_is_renamed_and_the_temperature_dropped_once_for_all() -> None:
    async with tables() as opens:
        chat = await opens.own(LIMIT, HEAT, NOON, NOON)
        first = await chat.goes_on("What time is it?")
        second = await chat.goes_on("And now?")
        *_, sent, again = chat.server.bodies

    assert (first.failure, second.failure) == (None, None)
    assert len(chat.server.bodies) == 4
    for body in (sent, again):
        assert not {"max_tokens", "temperature"} & body.keys()
        assert body["max_completion_tokens"] == 4096


async def test_the_same_holds_through_litellm() -> None:
    hot = refusal("`temperature` is deprecated for this model.")
    async with tables() as opens:
        chat = await opens.litellm("anthropic/claude-test", hot, *[anthropic({"type": "text", "text": "Noon."})] * 2)
        first = await chat.goes_on("What time is it?")
        await chat.goes_on("And now?")
        before, *after = chat.server.bodies

    assert first.failure is None
    assert "temperature" in before
    assert len(after) == 2
    assert all("temperature" not in body for body in after)


async def test_anthropic_is_not_asked_to_think_in_a_turn_that_another_model_began() -> None:
    async with tables() as opens:
        other = await opens.own(openai({"tool_calls": [call()]}, finish="tool_calls"))
        await other.goes_on("What time is it?")
        noon = anthropic({"type": "text", "text": "Noon."})
        chat = await opens.litellm("anthropic/claude-sonnet-4-5", noon)
        chat.said[:] = other.said
        await chat.goes_on(options=THINKS)

    assert ["thinking" in body for body in chat.server.bodies] == [False]


async def test_a_server_that_wants_an_answer_between_a_result_and_a_question_gets_one() -> None:
    async with tables() as opens:
        refused = refusal("Unexpected role 'user' after role 'tool'")
        chat = await opens.own(openai({"tool_calls": [call()]}, finish="tool_calls"), refused, NOON, NOON)
        await chat.goes_on("What time is it?")
        done = await chat.goes_on("And in Rome?")
        await chat.goes_on("Thank you.")
        first, *after = [chat.server.roles_of(number) for number in (1, 2, 3)]

    assert done.failure is None
    assert first == ["system", "user", "assistant", "tool", "user"]
    assert after[0] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert after[1] == [*after[0], "assistant", "user"]


async def test_what_one_model_refuses_another_gets_all_the_same() -> None:
    async with tables() as opens:
        chat = await opens.own(HEAT, NOON, NOON)
        await chat.goes_on("What time is it?")
        other = Chat(chat.client, chat.model.model_copy(update={"id": "another"}), chat.server, [])
        await other.goes_on("What time is it?")

    assert ["temperature" in body for body in chat.server.bodies] == [True, False, True]


async def test_a_model_without_tools_talks_and_says_so_once() -> None:
    async with tables() as opens:
        chat = await opens.own(NO_TOOLS, NOON, NOON)
        first = await chat.goes_on("What time is it?")
        second = await chat.goes_on("And now?")

    assert [done.lost_tools for done in (first, second)] == [True, False]
    assert ["tools" in body for body in chat.server.bodies] == [True, False, False]


async def test_the_person_reads_once_that_the_model_takes_no_tools() -> None:
    async with tables() as opens:
        chat = await opens.own(NO_TOOLS, NOON, NOON)
        registry = ToolRegistry([echo])
        context = ContextManager(registry)
        loop = AgentLoop(Models(chat.client, chat.model), context, ToolSetup(registry))
        agent = Agent(loop, context, ToolEnvironment("chat", Path("/dev/null/no-such-workspace")))
        end = await agent.prompt("What time is it?")
        later = await agent.prompt("And now?")

    texts = [answer_text(each.messages, each, LoopLimits(), "", "en") for each in (end, later)]
    assert texts == ["Noon.\n\n_m takes no tools, so it can only talk: no files, no searches, no reminders._", "Noon."]


async def test_calls_of_another_model_are_told_in_words_where_no_tools_are_taken() -> None:
    async with tables() as opens:
        chat = await opens.own(openai({"tool_calls": [call()]}, finish="tool_calls"), NO_TOOLS, NOON)
        await chat.goes_on("What time is it?")
        chat.model = chat.model.model_copy(update={"id": "small"})
        done = await chat.goes_on()
        messages = chat.server.bodies[-1]["messages"]

    assert done.failure is None
    assert isinstance(messages, list)
    roles = [each["role"] for each in messages if isinstance(each, dict)]
    assert roles == ["system", "user", "assistant", "user"]
    assert "clock with {}" in str(messages[2])
    assert "noon" in str(messages[3])


@pytest.mark.parametrize(
    ("said", "field", "value"),
    [
        ("The `reasoning_content` in the thinking mode must be passed back to the API.", "reasoning_content", " "),
        (
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
            "reasoning_content",
            " ",
        ),
    ],
)
async def test_calls_of_another_model_get_the_reasoning_that_a_server_insists_on(
    said: str, field: str, value: str
) -> None:
    async with tables() as opens:
        first = await opens.own(openai({"tool_calls": [call()]}, finish="tool_calls"))
        await first.goes_on("What time is it?")
        second = await opens.own(refusal(said), NOON, said=first.said)
        done = await second.goes_on()
        (sent,) = second.server.answers_of(1)

    assert done.failure is None
    assert sent[field] == value


async def test_calls_of_another_model_get_the_signature_that_gemini_insists_on() -> None:
    said = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work."
    async with tables() as opens:
        first = await opens.own(openai({"tool_calls": [call()]}, finish="tool_calls"))
        await first.goes_on("What time is it?")
        second = await opens.own(refusal(said), NOON, said=first.said)
        done = await second.goes_on()
        (sent,) = second.server.answers_of(1)

    assert done.failure is None
    assert "skip_thought_signature_validator" in str(sent["tool_calls"])


@pytest.mark.parametrize(
    "said",
    [
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a "
        "string with length 64 instead.",
        "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        "messages.2.content.0.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        "Value 'clock:0' at 'messages.2.member.content.1.member.toolUse.toolUseId' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
    ],
)
async def test_ids_are_as_short_as_a_server_wants_them_on_calls_and_results(said: str) -> None:
    async with tables() as opens:
        first = await opens.own(openai({"tool_calls": [call(identity="call_1")]}, finish="tool_calls"))
        await first.goes_on("What time is it?")
        second = await opens.own(refusal(said), NOON, said=first.said)
        done = await second.goes_on()
        messages = second.server.bodies[1]["messages"]

    assert done.failure is None
    assert isinstance(messages, list)
    answer, result = messages[-2:]
    assert isinstance(answer, dict)
    assert isinstance(result, dict)
    calls = answer["tool_calls"]
    assert isinstance(calls, list)
    assert isinstance(calls[0], dict)
    assert calls[0]["id"] == result["tool_call_id"]
    assert len(str(result["tool_call_id"])) == 9
    assert str(result["tool_call_id"]).isalnum()


async def test_what_a_server_hands_out_and_does_not_take_back_is_left_out() -> None:
    said = (
        "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property "
        "'reasoning_content' is unsupported)]"
    )
    async with tables() as opens:
        chat = await opens.own(openai({"reasoning_content": "Hm."}, {"content": "Noon."}), refusal(said), NOON)
        await chat.goes_on("What time is it?")
        done = await chat.goes_on("And now?")
        (sent,) = chat.server.answers_of(2)

    assert done.failure is None
    assert sent == {"role": "assistant", "content": "Noon."}


def extra(name: str) -> str:
    """Return the refusal of a server made with FastAPI."""
    problem: Json = {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}
    return json.dumps({"detail": [problem]})


ALL = {"max_tokens", "temperature", "stream_options", "parallel_tool_calls", "reasoning_effort", "tools", "tool_choice"}


@pytest.mark.parametrize(
    ("said", "dropped"),
    [
        ("Unrecognized request argument supplied: stream_options", "stream_options"),
        ("Unknown parameter: 'parallel_tool_calls'.", "parallel_tool_calls"),
        ('Invalid JSON payload received. Unknown name "stream_options": Cannot find field.', "stream_options"),
        (extra("stream_options"), "stream_options"),
        ("Argument not supported on this model: reasoningEffort", "reasoning_effort"),
        ("invalid temperature: only 1 is allowed for this model", "temperature"),
        ("max_tokens is too large: 8192. This model supports at most 4096 completion tokens", "max_tokens"),
        ("`reasoning_effort` is not supported with this model", "reasoning_effort"),
        ("'thinking' is not supported by this model", "reasoning_effort"),
        ("The thinking_budget is out of range; supported values are integers from 128 to 32768", "reasoning_effort"),
        ("该模型不支持工具调用", "tools"),
        ("reasoning_effort: Input should be 'low', 'medium' or 'high'", "reasoning_effort"),
        ("The parameter `reasoning_effort` specified in the request is not valid", "reasoning_effort"),
        ("max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-x", "max_tokens"),
        ("Range of max_tokens should be [1, 8192]", "max_tokens"),
        ("`temperature` and `top_p` cannot both be specified for this model.", "temperature"),
        ("请求参数 temperature 不合法", "temperature"),
        ("参数 max_tokens 错误", "max_tokens"),
        ("deepseek-reasoner does not support Function Calling", "tools"),
        ("`tool calling` is not supported with this model", "tools"),
        ("Function calling is not enabled for models/gemma-3-27b-it", "tools"),
        ("No endpoints found that support tool use. To learn more about provider routing", "tools"),
        ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "tools"),
        ("tools param requires --jinja flag", "tools"),
        ("This model doesn't support the tools parameter", "tools"),
        ("Thinking mode does not support this tool_choice", "tool_choice"),
        ("The tool_choice parameter does not support being set to required in thinking mode", "tool_choice"),
        ('think value "low" is not supported for this model', "reasoning_effort"),
        ("max_new_tokens must be <= 2048", "max_tokens"),
        ('Unknown name "tools": Cannot find field.', "tools"),
        (
            '{"detail":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}',
            "tools",
        ),
    ],
)
def test_the_parameter_that_an_error_names_is_the_one_that_is_dropped(said: str, dropped: str) -> None:
    assert learned(Manner(), said, ALL) == Manner(left_out=frozenset({dropped}))


@pytest.mark.parametrize(
    "said",
    [
        "Invalid schema for function 'weather': In context=('properties', 'temperature'), 'x' is not permitted",
        "tools[3].function.parameters: Extra inputs are not permitted",
        "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
        "messages.4.content.1: temperature unknown",
        "Invalid value for 'messages[2].content': expected a string, got null.",
        "The model does not exist",
        "You have no money",
        "",
    ],
)
def test_an_error_about_something_else_drops_nothing(said: str) -> None:
    assert learned(Manner(), said, ALL) is None


async def test_a_parameter_that_cannot_be_dropped_is_told_without_the_advice_to_begin_anew() -> None:
    async with tables() as opens:
        chat = await opens.own(refusal("Unknown parameter: 'messages'."))
        done = await chat.goes_on("What time is it?")

    assert done.failure is not None
    assert (done.failure.kind, done.failure.cause) == (FailureKind.INVALID, FailureCause.PARAMETER)
    assert len(chat.server.bodies) == 1


async def test_a_server_that_refuses_whatever_it_gets_is_not_asked_for_ever() -> None:
    async with tables() as opens:
        chat = await opens.own(*[HEAT] * 9)
        done = await chat.goes_on("What time is it?")

    assert done.failure is not None
    assert len(chat.server.bodies) == 2


def test_nothing_is_taken_from_the_request_that_was_not_in_it() -> None:
    sent: Json = {"model": "m", "messages": []}
    assert learned(Manner(), "Unknown parameter: 'model'.", sent) is None
    assert learned(Manner(), "Unknown parameter: 'temperature'.", sent) is None
