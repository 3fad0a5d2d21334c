"""What a summary finds worth keeping is a fact, which the next conversation begins with."""

from channels.memory import NO_PACE, MemoryChannel
from tests.gateway.conftest import StartBot
from tests.gateway.test_context_commands import LONG, with_facts


async def test_what_is_worth_remembering_outlives_the_summary(wired_bot: StartBot) -> None:  # S2-16, S2-17
    bot = await wired_bot(*[with_facts] * 12, channel=MemoryChannel(limits=NO_PACE))
    for _ in range(6):
        await bot.hears(LONG)

    await bot.hears("/compact")

    [memory] = (bot.home / "memory").rglob("MEMORY.md")
    assert memory.read_text().endswith("|summary|Ann prefers window seats.\n")
    await bot.hears("/new")
    await bot.hears("Which seat?")
    context = bot.llm.requests[-1].messages[-1].model_dump_json()
    assert "Ann prefers window seats." in context
