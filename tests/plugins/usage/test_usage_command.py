"""The command /usage: figures and a chart, in both languages."""

import asyncio
import io
from pathlib import Path

import pytest
from PIL import Image

from channels.attachments import Attachment
from gateway.plugins.usage.chart import HEIGHT, WIDTH, bar_chart
from gateway.records.spending_report import Bar
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_budgets import DEAR


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


async def test_words_that_it_does_not_know_get_an_example(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/usage yesterday")

    assert "`/usage here month`" in bot.screen[-1]


@pytest.mark.parametrize("values", [[], [0.0], [0.00001], [0.3, 12.0, 99.5], [1e9], [1.0] * 31])
def test_a_chart_is_drawn_whatever_the_values(values: list[float]) -> None:
    drawn = bar_chart([Bar(f"{number:02}", value, value / 2) for number, value in enumerate(values)], "USD")

    assert Image.open(io.BytesIO(drawn)).format == "PNG"
    assert len(drawn) < 30_000
