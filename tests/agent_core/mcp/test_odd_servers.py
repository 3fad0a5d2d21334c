"""What an MCP server says oddly is read as it is meant; what cannot be meant is left out, and nothing else with it."""

import pytest
from structlog.testing import capture_logs

from agent_core.mcp.config import McpServer
from agent_core.mcp.servers import McpServers
from tests.agent_core.mcp.serving import ENVIRON, connected, emulated, over_http, told
from tests.agent_core.models.at_provider import at, last
from tests.emulators.dialects.anthropic import ANTHROPIC_BUDGET
from tests.emulators.dialects.dialect import Dialect
from tests.emulators.dialects.gemini_native import GEMINI_NATIVE
from tests.emulators.dialects.moonshot import MOONSHOT
from tests.emulators.dialects.openai import OPENAI
from tests.emulators.model_script import ToolUse, Turn, says
from tests.end_to_end.program import START_SECONDS
from tests.odd_schemas import ODD
from tests.strict_schemas import refusals

BOTH = pytest.mark.parametrize("protocol", [(), ("--legacy",)])


@BOTH
async def test_its_tools_are_offered_in_a_form_that_every_provider_takes(protocol: tuple[str, ...]) -> None:
    with capture_logs() as logged:
        async with connected(emu=emulated("--odd", *protocol)) as servers:
            tools = {tool.name: tool.spec for tool in servers.tools()}
            echoed = await told(servers, "emu_echo", text="hi")

    assert [refusals(each.parameters) for each in tools.values()] == [[] for _ in tools]
    assert {"emu_echo", "emu_missing", "emu_odd_alternatives_at_the_root"} <= tools.keys()
    assert sum(name.startswith("emu_odd_") for name in tools) == len(ODD) + 1, "one has an odd name alone"
    assert echoed.splitlines() == ["hi", '{"type": "hologram", "size": 3}', '{"text": "no kind"}']
    (warning,) = [each for each in logged if each["log_level"] == "warning"]
    assert warning["tools"][0] == "list: its arguments are not an object"
    assert warning["left_out"] == 3


@BOTH
async def test_one_by_address_is_read_alike(protocol: tuple[str, ...]) -> None:
    async with over_http("--odd", *protocol) as (url, _), connected(web=McpServer(url=url)) as servers:
        assert len([tool for tool in servers.tools() if tool.name.startswith("web_odd_")]) == len(ODD) + 1
        assert (await told(servers, "web_echo", text="hi")).splitlines()[0] == "hi"


@pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")  # litellm silences it on import
@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC_BUDGET, GEMINI_NATIVE, MOONSHOT], ids=lambda each: each.name)
async def test_no_provider_refuses_a_request_for_them_and_they_are_called(dialect: Dialect) -> None:
    echoes = Turn(tools=(ToolUse("web_echo", {"text": "hi"}), ToolUse("emu_echo", {"text": "ho"})))
    async with (
        over_http("--odd") as (url, _),
        connected(web=McpServer(url=url), emu=emulated("--odd")) as servers,
        at(dialect, echoes, says("Said.")) as place,
    ):
        agent = place.agent(tools=servers.tools())
        await agent.prompt("Say hi and ho.")
        results = place.server.results(place.server.requests[-1])

    assert last(agent) == "Said."
    assert len(place.server.requests[-1].tools) > 2 * len(ODD)
    assert ["hi" in results[0], "ho" in results[1]] == [True, True]


async def test_what_is_left_out_is_named_with_its_reason() -> None:
    (looked,) = await McpServers({"emu": emulated("--odd")}, ENVIRON).look(START_SECONDS)

    assert looked.trouble == ""
    assert [(each.tool, each.why) for each in looked.left_out] == [
        ("list", "not_object"),
        ("", "nameless"),
        ("", "nameless"),
    ]
