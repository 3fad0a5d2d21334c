"""While strangers have a word in a conversation, people are asked before a fact is forgotten."""

from agent_core.models.scripted import calls
from agent_core.origin import CLEAN
from channels.memory import NO_PACE, MemoryChannel
from tests.gateway.approving import asked, questions
from tests.gateway.conftest import StartBot
from tests.gateway.facts import memory_of
from tests.gateway.test_origin_of_posts import read_page


async def test_after_a_page_was_read_a_fact_is_forgotten_only_with_a_yes(start_bot: StartBot) -> None:
    steps = (calls(("read_page", {})), calls(("forget", {"number": 1})))
    bot = await start_bot(*steps, "Done.", tools=(read_page,), channel=MemoryChannel(limits=NO_PACE))
    memory = memory_of(bot, bot.channel.chat("ann"))
    await memory.remember("likes tea", "Ann", CLEAN)

    question = await asked(bot)
    assert "forget" in questions(bot)[-1].markdown
    await bot.hears(f"/deny {question}")

    assert [each.text for each in await memory.facts()] == ["likes tea"]
