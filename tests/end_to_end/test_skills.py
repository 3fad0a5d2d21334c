"""Skills by command on every platform: an owner loads and unloads, other users only list them."""

import json
from collections.abc import Callable

import pytest
from pydantic import JsonValue

from gateway.app.chosen_plugins import own_plugins
from tests.emulators.model_script import ModelRequest, says
from tests.end_to_end.platforms.catalogue import only, where
from tests.end_to_end.platforms.emulated import STRANGERS, Emulated
from tests.end_to_end.platforms.platform import Chat
from tests.end_to_end.stage import Stage, is_answered

pytestmark = [pytest.mark.quick_clock, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

SECONDS = 30
INSTRUCTIONS = "It finds the delimiter"
"""Text from the skill `chart`."""
MOST_BYTES = 8_000
"""Size limit of the first request, whose bytes are paid for with every message."""
LATER = {"ask_user"}.union(*(plugin.tool_names for plugin in own_plugins()))
"""Tools that came after that limit was set, and those of plugins."""


def tells(*words: str) -> Callable[[Chat], bool]:
    return lambda chat: all(word in chat.screen[-1] for word in words) and is_answered(chat)


@pytest.mark.asyncio
async def test_an_owner_loads_a_skill_by_button_and_unloads_it_by_command(own_stage: Stage) -> None:
    platform = own_stage.platform
    if isinstance(platform, Emulated):
        own_stage.program.set("PARLEY_OWNERS", f"{platform.facts.name}:{platform.id_of(STRANGERS + 1)}")
    await own_stage.start()
    ann, chat = own_stage.private("Ann")

    await chat.says(ann, "/skills")
    await chat.until(tells("[○] chart", "[○] book-flight", "Draws a bar or line chart"), SECONDS)
    if platform.facts.name == "terminal":  # where many buttons are one line with what to type
        await chat.says(ann, "/skill load chart")
    else:
        await chat.presses(ann, "Load chart")
    await chat.until(tells("chart is loaded in this chat, until it is unloaded"), SECONDS)
    own_stage.script.then(says("Hi."))
    await chat.says(ann, "hello")
    await chat.until(tells("Hi."), SECONDS)
    assert "- [✓] **chart**: " in own_stage.model.requests[-1].system  # S1-03
    assert INSTRUCTIONS in own_stage.model.requests[-1].system

    await chat.says(ann, "/skill unload chart")
    await chat.until(tells("chart is unloaded in this chat."), SECONDS)
    own_stage.script.then(says("Bye."))
    await chat.says(ann, "bye")
    await chat.until(tells("Bye."), SECONDS)
    assert "- [○] **chart**: " in own_stage.model.requests[-1].system  # S1-23
    assert INSTRUCTIONS not in own_stage.model.requests[-1].system


@where(lambda facts: facts.emulated)
async def test_who_is_no_owner_looks_and_does_not_load(stage: Stage) -> None:
    bob, chat = stage.private("Bob")

    await chat.says(bob, "/skills")
    await chat.until(tells("[○] chart", "Also: ", "summarise-thread"), SECONDS)
    assert not any("Load" in str(message.buttons) for message in chat.bot_messages)
    await chat.says(bob, "/skill load chart")

    await chat.until(tells("Only owners and admins can load and unload skills."), SECONDS)


@pytest.mark.asyncio
@only("telegram")
async def test_the_first_request_with_all_shipped_tools_and_skills_stays_small(own_stage: Stage) -> None:
    await own_stage.start()
    ann, chat = own_stage.private("Ann")
    own_stage.script.then(says("Hi."))

    await chat.says(ann, "hello")
    await chat.until(tells("Hi."), SECONDS)

    (request,) = own_stage.model.requests
    assert {"load_skill", "schedule", "web_fetch"} <= set(request.tools)
    assert request.size - sum(len(json.dumps(each)) for each in _tools(request) if _name(each) in LATER) <= MOST_BYTES


def _tools(request: ModelRequest) -> list[JsonValue]:
    tools = request.body["tools"]
    assert isinstance(tools, list)
    return tools


def _name(tool: JsonValue) -> str:
    assert isinstance(tool, dict)
    function = tool["function"]
    assert isinstance(function, dict)
    return str(function["name"])
