"""A model whose chat template has no place for a system prompt, or wants roles to take turns, answers all the same."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import pytest

from agent_core.messages import AssistantMessage, ImageContent, StopReason, TextContent, ToolResultMessage
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import LlmClient, LlmRequest
from agent_core.models.manner import AS_USUAL, TOOLS, Manner, learned
from agent_core.models.openai_client import OpenAiClient
from agent_core.origin import CLEAN
from tests.agent_core.models.clients import KEY, Talk, model_info
from tests.agent_core.models.raw_models import CLOCK, frame, openai, tables
from tests.emulators.dialects.lessons import Lesson
from tests.emulators.dialects.local import TWO_ROLES
from tests.emulators.dialects.templates import NoSystem, StrictTurns, Turns
from tests.emulators.model_script import Answer, ToolUse, Turn, says
from tests.messages import user

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

PNG = ImageContent(data="aGk=", mime_type="image/png")
both_clients = pytest.mark.parametrize("client", ["own", "litellm"])
ANSWER = AssistantMessage(content=(TextContent(text="Noon."),), stop_reason=StopReason.STOP, model="x", origin=CLEAN)


@asynccontextmanager
async def at(client: str, *answers: Answer, lessons: tuple[Lesson, ...]) -> AsyncIterator[Talk]:
    async with AsyncExitStack() as life:
        server = await life.enter_async_context(replace(TWO_ROLES, lessons=lessons).server(answers, api_key=KEY))
        made: LlmClient
        if client == "own":
            made, model = OpenAiClient(server.base_url, KEY), model_info(server.model)
        else:
            made, model = LitellmClient(KEY, server.base_url), model_info(f"openai/{server.model}", "openai")
        life.push_async_callback(made.close)
        yield Talk(made, model, server)
        assert server.violations == []


@both_clients
async def test_the_system_prompt_stands_at_the_head_of_the_first_message_and_is_refused_once(client: str) -> None:
    async with at(client, says("Noon."), says("One."), lessons=(NoSystem(),)) as talk:
        first = await talk.done(LlmRequest(system="Be brief.", messages=(user("What time is it?"),)))
        second = await talk.done(LlmRequest(system="Be brief.", messages=(user("And now?"),)))
        assert talk.server is not None
        sent = [each.messages for each in talk.server.requests]

    assert (first.message.text, second.message.text) == ("Noon.", "One.")
    assert len(sent) == 3
    assert [each["role"] for each in sent[-1]] == ["user"]
    assert sent[-1][0]["content"] == "Be brief.\n\nAnd now?"


@both_clients
async def test_a_picture_stays_with_the_message_that_the_system_prompt_heads(client: str) -> None:
    async with at(client, says("A dot."), lessons=(NoSystem(),)) as talk:
        done = await talk.done(LlmRequest(system="Be brief.", messages=(user("What is this?", PNG),)))
        assert talk.server is not None
        (sent,) = talk.server.requests[-1].messages

    assert done.failure is None
    assert isinstance(sent["content"], list)
    assert [each["type"] for each in sent["content"] if isinstance(each, dict)] == ["text", "image_url", "text"]


@both_clients
async def test_two_messages_in_a_row_become_one_where_roles_take_turns(client: str) -> None:
    async with at(client, says("Noon."), lessons=(Turns(),)) as talk:
        done = await talk.done(LlmRequest(system="Be brief.", messages=(user("Hello?"), user("What time is it?"))))
        assert talk.server is not None
        sent = talk.server.requests[-1].messages

    assert done.message.text == "Noon."
    assert [(each["role"], each["content"]) for each in sent] == [
        ("system", "Be brief."),
        ("user", "Hello?\n\nWhat time is it?"),
    ]


@both_clients
async def test_a_conversation_that_begins_with_an_answer_gets_a_message_before_it(client: str) -> None:
    async with at(client, says("One."), lessons=(Turns(),)) as talk:
        done = await talk.done(LlmRequest(system="", messages=(ANSWER, user("And now?"))))

    assert done.message.text == "One."


@both_clients
async def test_a_template_that_counts_each_message_gets_calls_and_results_in_words(client: str) -> None:
    called = Turn(tools=(ToolUse("clock", {}),))
    async with at(client, called, says("Noon."), lessons=(StrictTurns(),)) as talk:
        asked = user("What time is it?")
        first = await talk.done(LlmRequest(system="Be brief.", messages=(asked,), tools=(CLOCK,)))
        (call,) = first.message.tool_calls
        noon = ToolResultMessage(tool_call_id=call.id, tool_name="clock", content=ANSWER.content, origin=CLEAN)
        done = await talk.done(LlmRequest(system="Be brief.", messages=(asked, first.message, noon), tools=(CLOCK,)))

    assert done.message.text == "Noon."
    assert done.lost_tools


@both_clients
async def test_a_refusal_that_comes_as_the_first_event_of_the_stream_teaches_too(client: str) -> None:
    said = 'Error rendering prompt with jinja template: "System role not supported".'
    refused = b"event: error\n" + frame({"error": {"message": said}})
    noon = openai({"content": "Noon."})
    async with tables() as opens:
        chat = await (opens.own(refused, noon) if client == "own" else opens.litellm("openai/m", refused, noon))
        done = await chat.goes_on("What time is it?")

    assert done.message.text == "Noon."
    assert [chat.server.roles_of(number) for number in (0, 1)] == [["system", "user"], ["user"]]


HEADED = Manner(heads_with_system=True)
TURNS = Manner(alternates=True, answers_results=True)
WORDY = Manner(left_out=frozenset({TOOLS}))


@pytest.mark.parametrize(
    ("said", "taught"),
    [
        ("System role not supported", HEADED),
        ("system messages are not supported by this model", HEADED),
        ("This model doesn't support system messages. Try again without system messages.", HEADED),
        ("This model does not support a system prompt.", HEADED),
        ("Developer instruction is not enabled for models/gemma-3-27b-it", HEADED),
        ("Unsupported value: 'messages[0].role' does not support 'system' with this model.", HEADED),
        ("role 'system' is not supported on this model", HEADED),
        ("'system' is not one of ['user', 'assistant'] - 'messages.0.role'", HEADED),
        ("message role not supported yet: system", HEADED),
        ("Unexpected role 'system'", HEADED),
        ("Invalid role: system", HEADED),
        ('messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter', HEADED),
        ("\u4e0d\u652f\u6301 system \u89d2\u8272", HEADED),
        ("Only user and assistant roles are supported!", HEADED),
        ('{"loc":["body","messages",0,"role"],"msg":"Input should be \'user\' or \'assistant\'"}', HEADED),
        ("Only user and assistant roles are supported, with the exception of an optional system message!", WORDY),
        ("Unexpected role 'tool'", WORDY),
        ("'tool' is not one of ['system', 'user', 'assistant'] - 'messages.2.role'", WORDY),
        ("Conversation roles must alternate user/assistant/user/assistant/...", TURNS),
        ("After the optional system message, conversation roles must alternate user and assistant roles", TURNS),
        ("After the (optional) system message(s), user or tool message(s) should alternate with assistant", TURNS),
        ('messages: roles must alternate between "user" and "assistant", but found multiple "user" roles', TURNS),
        ("deepseek-reasoner does not support successive user or assistant messages (messages[1] and [2])", TURNS),
        ("the role of first message must be user", TURNS),
        ("the role of message with even index in the messages must be assistant", TURNS),
        ("A conversation must start with a user message. Try again.", TURNS),
    ],
)
def test_what_is_said_of_roles_is_understood(said: str, taught: Manner) -> None:
    assert learned(AS_USUAL, said, {TOOLS}) == taught


def test_words_of_turns_that_fit_whatever_is_wrong_have_each_cure_tried_once() -> None:
    manner, tried = AS_USUAL, []
    while found := learned(manner, "Conversation roles must alternate user/assistant", {TOOLS}):
        tried.append((found.alternates, found.heads_with_system, TOOLS in found.left_out))
        manner = found

    assert tried == [(True, False, False), (True, True, False), (True, True, True)]


@pytest.mark.parametrize(
    "said",
    [
        "System error: the model is not available",
        "The operating system does not support this",
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        "Invalid value for 'messages[2].content': expected a string, got null.",
        "No tool output found for function call",
        "Try an alternative model",
    ],
)
def test_words_about_something_else_change_no_roles(said: str) -> None:
    assert learned(AS_USUAL, said, {TOOLS}) is None
