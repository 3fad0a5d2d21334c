"""A tool for which a model's server refuses the request is left out, and the message is answered without it."""

from pathlib import Path

import pytest

from agent_core.loop.refused_tools import refused_tools
from agent_core.models.llm import FailureKind, LlmFailure, ToolSpec
from agent_core.models.scripted import Failure
from tests.agent_core.mcp.serving import emulated
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel
from tests.gateway.test_approved_tools import approved_in, running
from tests.process import until

SCHEMA = "Invalid schema for function 'lab_weather': None is not of type 'array'."
TOOLS = tuple(ToolSpec(name=name, description="", parameters={}) for name in ("clock", "lab_echo", "lab_weather"))


async def test_the_message_is_answered_and_the_owner_told_of_the_tool_and_its_server(
    wired_bot: StartBot, tmp_path: Path
) -> None:
    server, channel = emulated(), RememberingChannel()
    channel.reachable.add("ann")
    approved = approved_in(tmp_path, {"lab": server})
    async with running(approved, server) as servers:
        refusal = Failure(kind=FailureKind.INVALID, message=SCHEMA)
        bot = await wired_bot(refusal, "Hello.", "Again.", channel=channel, approved=approved, others=servers.tools)

        await bot.hears("hello")
        await bot.hears("and again")

        offered = [{tool.name for tool in request.tools} for request in bot.llm.requests]
        assert [("lab_weather" in names, "lab_echo" in names) for names in offered] == [
            (True, True),
            (False, True),
            (False, True),
        ]
        assert [each for each in bot.screen if each in ("Hello.", "Again.")] == ["Hello.", "Again."]
        await until(lambda: any("I cannot use some tools of the MCP server `lab`" in each for each in bot.screen))
        told = next(each for each in bot.screen if "I cannot use some tools" in each)
        assert "`weather` of `lab` is left out: the model's server refuses the schema of its arguments." in told


async def test_what_is_refused_for_one_of_our_own_tools_is_told_as_ever(wired_bot: StartBot) -> None:
    bot = await wired_bot(Failure(kind=FailureKind.INVALID, message="tools.0.custom.input_schema: is not valid"))

    await bot.hears("hello")

    assert len(bot.llm.requests) == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (SCHEMA, ["lab_weather"]),
        ("tools.1.custom.input_schema: input_schema does not support oneOf at the top level", ["lab_echo"]),
        ("Invalid 'tools[2].function.parameters': schema must have type 'object'", ["lab_weather"]),
        ("* GenerateContentRequest.tools[0].function_declarations[1].parameters: should be non-empty", ["lab_echo"]),
        ("tools[0].functionDeclarations[2].parameters: Unknown name", ["lab_weather"]),
        ("messages.3: all of lab_weatherman is wrong", []),
        ("tools.7.custom.input_schema: no such tool", []),
    ],
)
def test_the_tool_is_found_by_its_name_or_its_place(words: str, named: list[str]) -> None:
    assert refused_tools(LlmFailure(kind=FailureKind.INVALID, message=words), TOOLS) == named
    assert refused_tools(LlmFailure(kind=FailureKind.TRANSIENT, message=words), TOOLS) == []
