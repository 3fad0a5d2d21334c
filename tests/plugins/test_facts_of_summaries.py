"""A plugin keeps what the summary of a conversation finds worth remembering, with where that came from."""

from collections.abc import Sequence
from typing import ClassVar

import pytest

from agent_core.models.llm import LlmRequest
from agent_core.origin import Origin
from channels.base import ChatKey
from channels.memory import NO_PACE, MemoryChannel
from gateway.plugin import Plugin
from tests.gateway.conftest import StartBot
from tests.gateway.test_context_commands import LONG, with_facts


class Keeps(Plugin):
    """Keeps facts."""

    name = "keeps"
    kept: ClassVar[list[tuple[str, Sequence[str], bool]]]

    async def summarised(self, chat: ChatKey, facts: Sequence[str], origin: Origin) -> None:
        self.kept.append((chat.chat, tuple(facts), origin.is_clean))


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_model_is_asked_for_facts_only_where_a_plugin_keeps_them(
    wired_bot: StartBot, *, keeps: bool
) -> None:  # S2-16, S2-17
    plugin: type[Keeps] = type("Fresh", (Keeps,), {"kept": []})
    plugins = (plugin,) if keeps else ()
    bot = await wired_bot(*[with_facts] * 12, channel=MemoryChannel(limits=NO_PACE), plugins=plugins)
    for _ in range(6):
        await bot.hears(LONG)

    await bot.hears("/compact")

    assert any(asks_for_facts(each) for each in bot.llm.requests) is keeps
    assert plugin.kept == ([("ann", ("Ann prefers window seats.",), True)] if keeps else [])


def asks_for_facts(request: LlmRequest) -> bool:
    return "Durable Facts" in request.model_dump_json()
