"""The command /usage: figures and a chart, in both languages."""

import asyncio
import io
import re
from pathlib import Path

import pytest
from PIL import Image

from agent_core.models.scripted import Waits
from agent_core.models.selection import BASE_URL
from channels.attachments import Attachment
from gateway.plugins.usage.chart import HEIGHT, WIDTH, bar_chart
from gateway.records.spending_report import Bar
from tests.emulators.model_script import says
from tests.emulators.openai import OpenAiEmulator
from tests.gateway.admin.desk import admin_world
from tests.gateway.admin.test_pages import act
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_budgets import DEAR
from tests.gateway.test_links import chat_of, linked
from tests.process import python


def _pictures(bot: Bot) -> list[Attachment]:
    return [each for _, message in bot.channel.posts for each in message.attachments]


async def test_usage_has_figures_and_a_chart(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", model=DEAR)
    await bot.hears("hi")

    await bot.hears("/usage here month")

    assert bot.screen[-1].startswith("**Usage in this chat, ")
    assert "1 call, " in bot.screen[-1]
    assert "- scripted: 1 call, " in bot.screen[-1]
    [picture] = _pictures(bot)
    assert (picture.name, picture.mime_type) == ("usage.png", "image/png")
    content = await asyncio.to_thread(Path(picture.path).read_bytes)
    assert Image.open(io.BytesIO(content)).size == (WIDTH, HEIGHT)


async def test_without_calls_there_is_no_chart(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/usage 我 今天", language="zh")

    assert "没有调用过模型。" in bot.screen[-1]
    assert not _pictures(bot)


async def test_the_usage_of_everybody_is_for_owners_and_admins(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.")
    await bot.hears("hi", sender="bob")

    await bot.hears("/usage all", sender="bob")
    assert bot.screen[-1] == "Only owners and admins can see the usage of everybody."
    await bot.hears("/usage all week")
    assert "1 call, " in bot.screen[-1]
    await bot.hears("/usage me")
    assert "The model has not been called." in bot.screen[-1]


async def test_more_adds_the_days_and_models(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.")
    await bot.hears("hello")
    await bot.hears("/usage")
    assert "calls, " in bot.screen[-1] or "1 call, " in bot.screen[-1]
    assert "- scripted: " not in bot.screen[-1]

    await bot.channel.presses("More")
    await bot.app.settled()
    assert any("- scripted: " in text for text in bot.screen)


async def test_a_call_without_a_count_is_marked_as_estimated(start_bot: StartBot) -> None:
    waits = Waits(asyncio.Event(), "never")
    bot = await start_bot(waits, "Hello!")
    await bot.channel.hears("hi")
    await waits.reached.wait()
    await bot.restart()  # the run goes on with a new call
    await bot.app.settled()

    await bot.hears("/usage")

    assert "are estimated" in bot.screen[-1]
    assert "≈" in bot.screen[-1]


async def test_nobody_in_it_reads_where_on_its_disk_a_server_keeps_a_model(tmp_path: Path) -> None:
    path = "/srv/models/SmolLM2-135M.gguf"
    async with OpenAiEmulator([says("Hi.")], models=[path]) as server:
        environ = {"HOME": str(tmp_path), BASE_URL: server.base_url}
        await python("-m", "gateway.cli", "chat", cwd=tmp_path, environ=environ, says="hi\n")
        talked = await python("-m", "gateway.cli", "chat", cwd=tmp_path, environ=environ, says="/usage more\n")

    assert "SmolLM2-135M: 1 call" in talked.out
    assert ".gguf" not in talked.out


async def test_what_both_accounts_used_before_they_were_linked_is_the_persons(start_bot: StartBot) -> None:
    bot = await start_bot("Hello, Bob.", "Hello, Carl.")
    for person in ("bob", "carl"):
        await bot.hears("hi", sender=person)
    await linked(bot, "bob", "carl")

    for person in ("bob", "carl"):
        await bot.hears("/usage me", sender=person)
        assert "2 calls" in bot.channel.screen_of(chat_of(bot, person))[-1]


async def test_the_page_shows_the_total_of_usage_in_both_languages(tmp_path: Path) -> None:
    async with admin_world(tmp_path, "Hello!", "Again!", model=DEAR) as world, world.client() as client:
        for text in ("hi", "and now?"):
            await world.bot.hears(text)
        said = await act(client, "/usage all week")
        found = re.search(r"(\d+) calls, ([\d,]+ tokens), ([\d.]+) USD", said)
        assert found
        for language, usd in (("en", "USD"), ("zh", "美元")):
            async with client.get("/admin/costs", headers={"Accept-Language": language}) as answer:
                assert f"<strong>{found[3]} {usd}</strong>" in await answer.text()


async def test_the_usage_of_one_person_is_not_unfolded_into_that_of_another(start_bot: StartBot) -> None:
    bot = await start_bot("Hi.")
    await bot.hears("hello", group="team")
    await bot.hears("/usage", group="team")
    anns = bot.screen[-1]
    await bot.channel.presses("More", sender="bob")
    await bot.app.settled()

    assert anns in bot.screen
    assert "The model has not been called." in bot.screen[-1]


async def test_words_that_it_does_not_know_get_an_example(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/usage yesterday")

    assert "`/usage here month`" in bot.screen[-1]


@pytest.mark.parametrize("values", [[], [0.0], [0.00001], [0.3, 12.0, 99.5], [1e9], [1.0] * 31])
def test_a_chart_is_drawn_whatever_the_values(values: list[float]) -> None:
    drawn = bar_chart([Bar(f"{number:02}", value, value / 2) for number, value in enumerate(values)], "USD")

    assert Image.open(io.BytesIO(drawn)).format == "PNG"
    assert len(drawn) < 30_000
