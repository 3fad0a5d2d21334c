"""Anthropic's models keep one kind of thinking in a turn, and their thoughts are given up when they are bound."""

from collections.abc import Sequence

import pytest
from pydantic import JsonValue

from agent_core.messages import LlmMessage, ToolResultMessage, text_of
from agent_core.models.litellm_client import LitellmClient
from agent_core.models.llm import LlmOptions, LlmRequest, ModelInfo, StreamDone
from agent_core.models.model_table import look_up
from agent_core.origin import CLEAN
from tests.agent_core.models.clients import KEY, OPTIONS
from tests.agent_core.models.raw_models import CLOCK, anthropic, tables
from tests.emulators.dialects.anthropic import ANTHROPIC_ADAPTIVE, ANTHROPIC_BOUND, ANTHROPIC_BUDGET
from tests.emulators.dialects.anthropic_messages import AnthropicMessagesServer
from tests.emulators.dialects.anthropic_thoughts import BINDING_HEADER
from tests.emulators.dialects.dialect import Dialect
from tests.emulators.model_script import Json, ToolUse, Turn, says
from tests.messages import user

# litellm silences this warning on import; pytest undoes that.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")

THINKS = OPTIONS.model_copy(update={"thinking": "low"})
THOUGHT: Json = {"type": "thinking", "thinking": "Hm.", "signature": "one"}
NOON: Json = {"type": "text", "text": "Noon."}


def looks(number: int) -> Json:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "clock", "input": {}}


async def asked(name: str, steps: Sequence[LlmOptions], *answers: bytes) -> list[Json]:
    """Return the bodies of a turn in which each step has its own options."""
    async with tables() as opens:
        chat = await opens.litellm(f"anthropic/{name}", *answers)
        chat.model = (await look_up(chat.model.id, "anthropic")).model_copy(update={"reasoning": True})
        for number, options in enumerate(steps):
            await chat.goes_on("" if number else "What time is it?", options)
        return chat.server.bodies


def thinking_of(bodies: Sequence[Json]) -> list[JsonValue]:
    return [body.get("thinking") for body in bodies]


async def test_a_turn_goes_on_with_thinking_after_a_call_without_thoughts() -> None:
    calls = [anthropic(THOUGHT, looks(1), finish="tool_use"), anthropic(looks(2), finish="tool_use"), anthropic(NOON)]
    bodies = await asked("claude-sonnet-4-5", [THINKS] * 3, *calls)

    budget = {"type": "enabled", "budget_tokens": 2048}
    assert thinking_of(bodies) == [budget, budget, budget]
    assert "signature" in str(bodies[2])


async def test_a_turn_that_began_without_thoughts_goes_on_without() -> None:
    bodies = await asked(
        "claude-sonnet-4-5", [OPTIONS, THINKS], anthropic(looks(1), finish="tool_use"), anthropic(NOON)
    )

    assert thinking_of(bodies) == [None, None]


async def test_older_models_finish_a_turn_that_began_with_thoughts_with_the_least_budget() -> None:
    bodies = await asked(
        "claude-sonnet-4-5", [THINKS, OPTIONS], anthropic(THOUGHT, looks(1), finish="tool_use"), anthropic(NOON)
    )

    assert thinking_of(bodies)[1] == {"type": "enabled", "budget_tokens": 1024}
    assert "signature" in str(bodies[1])


async def test_newer_models_finish_a_turn_with_the_thinking_that_it_began_with() -> None:
    calls = [anthropic(THOUGHT, looks(1), finish="tool_use"), anthropic(NOON), anthropic(NOON)]
    async with tables() as opens:
        chat = await opens.litellm("anthropic/claude-sonnet-5", *calls)
        chat.model = await look_up(chat.model.id, "anthropic")
        await chat.goes_on("What time is it?", THINKS)
        await chat.goes_on("", OPTIONS)
        await chat.goes_on("And now?", OPTIONS)
        first, second, third = chat.server.bodies

    assert (first["thinking"], first["output_config"]) == (
        {"type": "adaptive", "display": "summarized"},
        {"effort": "low"},
    )
    assert second["thinking"] == {"type": "adaptive"}
    assert "signature" in str(second)
    assert "thinking" not in third


async def answered(
    client: LitellmClient,
    model: ModelInfo,
    said: Sequence[LlmMessage],
    options: LlmOptions = THINKS,
    system: str = "Be brief.",
) -> list[LlmMessage]:
    """Return an answer to what was said, and the results of its calls."""
    request = LlmRequest(system=system, messages=tuple(said), tools=(CLOCK,))
    *_, done = [event async for event in client.stream(model, request, options)]
    assert isinstance(done, StreamDone)
    assert done.failure is None
    results: list[LlmMessage] = [
        ToolResultMessage(tool_call_id=each.id, tool_name=each.name, content=user("noon").content, origin=CLEAN)
        for each in done.message.tool_calls
    ]
    return [done.message, *results]


@pytest.mark.parametrize("options", [THINKS, OPTIONS], ids=["on", "off"])
async def test_thoughts_that_are_bound_are_left_out_by_the_server_after_one_refusal(options: LlmOptions) -> None:
    script = [Turn(tools=(ToolUse("clock"),), thinking="Let me look."), says("Noon."), says("You are welcome.")]
    async with ANTHROPIC_BOUND.server(script, api_key=KEY) as server:
        assert isinstance(server, AnthropicMessagesServer)
        client = LitellmClient(KEY, server.base_url)
        model = await look_up(ANTHROPIC_BOUND.setting, "anthropic")
        said: list[LlmMessage] = [user("What time is it?")]
        for system in ("Be brief.", "Be brief. Today is Monday.", "Be brief. Today is Tuesday."):
            said += await answered(client, model, said, options, system)
            said += [] if isinstance(said[-1], ToolResultMessage) else [user("Thank you.")]
        await client.close()

    betas = [BINDING_HEADER in each.headers.get("anthropic-beta", "") for each in server.requests]
    assert betas == [False, False, True, True]
    assert (server.violations, server.taught) == ([], ["thinking.block_binding"])
    assert server.dropped


@pytest.mark.parametrize("dialect", [ANTHROPIC_BUDGET, ANTHROPIC_ADAPTIVE], ids=lambda each: each.name)
async def test_a_turn_goes_on_after_one_refusal_where_its_thoughts_are_not_known(dialect: Dialect) -> None:
    model = (await look_up(dialect.setting, "anthropic")).model_copy(update={"reasoning": True})
    said: list[LlmMessage] = [user("What time is it?")]
    async with dialect.server([Turn(tools=(ToolUse("clock"),), thinking="Let me look.")], api_key=KEY) as first:
        client = LitellmClient(KEY, first.base_url)
        said += await answered(client, model, said)
        await client.close()
    async with dialect.server([says("Noon."), says("Gladly.")], api_key=KEY) as other:
        client = LitellmClient(KEY, other.base_url)
        said += await answered(client, model, said)
        said += await answered(client, model, [*said, user("Thank you.")])
        await client.close()

    assert [text_of(each.content) for each in said[-2:]] == ["Noon.", "Gladly."]
    assert len(other.violations) == 1
    assert "Invalid `signature` in `thinking` block" in other.violations[0]
