"""Every model client over a socket: requests, usage, silence, closed connections, secrets."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from agent_core.messages import ImageContent, StopReason, TextContent, ToolResultMessage
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import FailureKind, LlmClient, LlmOptions, LlmRequest, TextDelta, ToolSpec
from agent_core.models.openai_client import OpenAiClient
from agent_core.origin import CLEAN
from tests.agent_core.models.clients import HELLO, KEY, OPTIONS, OVER_A_WIRE, Meeting, Talk
from tests.emulators.model_script import Break, Failure, ToolUse, Turn, Usage, calls, says
from tests.emulators.model_server import ModelServer
from tests.messages import user

pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

LONG = "The quick brown fox jumps over the lazy dog."
LOOK = ToolSpec(
    name="look",
    description="Look around.",
    parameters={"type": "object", "properties": {"where": {"type": "string"}}, "required": ["where"]},
)
PNG = ImageContent(
    data="iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    mime_type="image/png",
)


@pytest.fixture(params=list(OVER_A_WIRE.values()), ids=list(OVER_A_WIRE))
def meets(request: pytest.FixtureRequest) -> Meeting:
    meeting: Meeting = request.param
    return meeting


def server_of(talk: Talk) -> ModelServer:
    assert talk.server is not None
    return talk.server


async def test_a_turn_with_tools_and_pictures_is_taken_by_the_server(meets: Meeting) -> None:
    script = [calls(ToolUse("look", {"where": "left"}), ToolUse("look", {"where": "right"})), says("A cat, twice.")]
    async with meets(script) as talk:
        asked = user("What is there?", PNG, source="Ann", context="It is noon.")
        request = LlmRequest(system="Be brief.", messages=(asked,), tools=(LOOK,))
        first = (await talk.done(request)).message
        results = tuple(
            ToolResultMessage(
                tool_call_id=call.id, tool_name="look", content=(TextContent(text="A cat."), PNG), origin=CLEAN
            )
            for call in first.tool_calls
        )
        history = request.model_copy(update={"messages": (asked, first, *results)})
        second = await talk.done(history)
        requests = server_of(talk).requests

    assert second.failure is None
    assert second.message.text == "A cat, twice."
    assert [each.tools for each in requests] == [["look"], ["look"]]
    assert requests[0].system == "Be brief."
    assert "<context>\nIt is noon.\n</context>\nAnn: What is there?" in requests[0].texts("user")[0]
    assert "A cat." in str(requests[1].messages)
    assert str(requests[1].messages).count(PNG.data) == 3


async def test_a_history_with_tool_calls_may_be_asked_about_without_tools(meets: Meeting) -> None:
    async with meets([calls(ToolUse("look", {"where": "left"})), says("We saw a cat.")]) as talk:
        asked = user("What is there?")
        first = (await talk.done(LlmRequest(system="", messages=(asked,), tools=(LOOK,)))).message
        seen = ToolResultMessage(
            tool_call_id=first.tool_calls[0].id, tool_name="look", content=(TextContent(text="A cat."),), origin=CLEAN
        )
        done = await talk.done(LlmRequest(system="Sum up.", messages=(asked, first, seen, user("Sum up."))))

    assert done.failure is None
    assert done.message.text == "We saw a cat."


async def test_without_tools_none_are_offered(meets: Meeting) -> None:  # S0-11, S2-37, C-23
    async with meets([says("Hello.")]) as talk:
        await talk.done()
        (request,) = server_of(talk).requests

    assert "tools" not in request.body
    assert "tool_choice" not in request.body
    assert (request.heat, request.limit) == (0.7, 4096)
    assert request.stream


async def test_tokens_are_counted_once_and_priced(meets: Meeting) -> None:
    async with meets([Turn("Hello.", usage=Usage(input=1000, output=200, cached=400))]) as talk:
        usage = (await talk.done()).message.usage

    assert (usage.input, usage.cache_read, usage.output, usage.total) == (600, 400, 200, 1200)
    assert usage.cost_usd == pytest.approx((600 * 3.0 + 400 * 0.3 + 200 * 15.0) / 1_000_000)


@pytest.mark.parametrize("count", [-1_000_000, 10**18])
async def test_a_usage_that_no_call_can_have_counts_as_not_told(meets: Meeting, count: int) -> None:
    async with meets([Turn("Hello.", usage=Usage(input=count, output=count))]) as talk:
        message = (await talk.done()).message

    assert message.text == "Hello."
    assert message.usage.input == 0
    assert 0 <= message.usage.output <= 1  # the first event of one provider tells of one token


async def test_calls_are_calls_whatever_the_server_says_of_its_end(meets: Meeting) -> None:  # S0-13
    async with meets([replace(calls("clock"), finish="stop")]) as talk:
        done = await talk.done()

    assert done.message.stop_reason is StopReason.TOOL_USE
    assert [call.name for call in done.message.tool_calls] == ["clock"]


async def test_calls_at_the_output_limit_are_marked_as_cut(meets: Meeting) -> None:  # U-06
    async with meets([replace(calls("clock"), finish="length")]) as talk:
        done = await talk.done()

    assert done.message.stop_reason is StopReason.LENGTH
    assert [call.name for call in done.message.tool_calls] == ["clock"]


async def test_a_server_that_falls_silent_is_left_after_the_time_limit(meets: Meeting) -> None:
    async with meets([says("Hello."), says(LONG, breaks=Break("stall", 2))]) as talk:
        await talk.done()  # the first call imports what it needs, which may take longer
        done = await talk.done(options=LlmOptions(timeout_s=5.0))
        server = server_of(talk)
        await server.wait_for(lambda: server.requests[1].abandoned)

    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSIENT
    assert done.message.text
    assert LONG.startswith(done.message.text)


async def test_closing_the_stream_hangs_up(meets: Meeting) -> None:  # S2-32
    async with meets([says(LONG, breaks=Break("stall", 2))]) as talk:
        async with aclosing(talk.client.stream(talk.model, HELLO, OPTIONS)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
        server = server_of(talk)
        await server.wait_for(lambda: server.requests[0].abandoned)


async def test_a_server_that_is_away_may_be_back_later(meets: Meeting) -> None:
    async with meets([]) as talk:
        await server_of(talk).leave()
        done = await talk.done()

    assert done.failure is not None
    assert done.failure.kind is FailureKind.TRANSIENT
    assert not done.failure.may_be_billed


@pytest.mark.parametrize(("status", "may_be_billed"), [(503, False), (504, True)])
async def test_only_a_proxy_that_did_not_wait_leaves_the_cost_open(
    meets: Meeting, status: int, *, may_be_billed: bool
) -> None:
    async with meets([says("Hello.")]) as talk:
        server_of(talk).faults.fail(status=status)
        done = await talk.done()

    assert done.failure is not None
    assert done.failure.may_be_billed is may_be_billed


async def test_a_killed_connection_is_worth_another_try(meets: Meeting) -> None:
    async with meets([says("Hello.")]) as talk:
        server_of(talk).faults.drop()
        lost = await talk.done()
        again = await talk.done()

    assert lost.failure is not None
    assert lost.failure.kind is FailureKind.TRANSIENT
    assert lost.failure.may_be_billed
    assert again.message.text == "Hello."


async def test_no_secret_stands_in_a_failure(meets: Meeting) -> None:
    async with meets([Failure("auth", message=f"Incorrect API key provided: {KEY}.")]) as talk:
        done = await talk.done()

    assert done.failure is not None
    assert KEY not in str(done)
    assert done.failure.kind is FailureKind.AUTH


async def test_an_empty_account_is_not_asked_again(meets: Meeting) -> None:
    words = "You exceeded your current quota, please check your plan and billing details."
    async with meets([Failure("rate_limit", message=words)]) as talk:
        done = await talk.done()

    assert done.failure is not None
    assert done.failure.kind is FailureKind.QUOTA


@pytest.mark.parametrize(
    "client", [OpenAiClient("http://127.0.0.1:1/v1", None), LitellmClient("k", "http://127.0.0.1:1")]
)
async def test_closing_a_client_that_was_never_used_does_nothing(client: LlmClient) -> None:
    await client.close()
