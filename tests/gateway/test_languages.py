"""Everybody is answered in the language in which they write, whatever that of their client is."""

import pytest

from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Call, Calls, Failure
from gateway.app.languages import written_in
from gateway.texts.say import Language
from tests.gateway.conftest import StartBot

WEEKLY = Calls((Call("schedule", {"kind": "reminder", "what": "stretch", "when": "0 9 * * 1"}),))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("remind me tomorrow at nine to call Ben", "en"),
        ("What's on today?", "en"),
        ("Remind me at 9 to call 王芳 and 李娜", "en"),
        ("明天九点提醒我给本打电话", "zh"),
        ("帮我 debug 一下 parser.py", "zh"),
        ("帮我看看 `what is the matter with you`", "zh"),
        ("畫圖 sales.csv", "zh"),
        ("明日の九時に電話してください", None),
        ("내일 아홉 시에 알려줘", None),
        ("Erinnere mich morgen um neun an den Anruf", None),
        ("Rappelle-moi demain d'appeler Luc", None),
        ("hello", None),
        ("17 * 23", None),
        ("https://example.com/what-is-the-time", None),
        ("", None),
    ],
)
def test_words_tell_their_language(text: str, language: Language | None) -> None:
    assert written_in(text) == language


@pytest.mark.parametrize("client", [None, "en", "en-GB"])
async def test_a_chinese_request_gets_a_chinese_card_from_an_english_client(
    wired_bot: StartBot, client: str | None
) -> None:
    bot = await wired_bot(WEEKLY, "好的。")
    await bot.hears("每周一九点提醒我伸展一下", language=client)

    [(_, card)] = bot.channel.posts
    assert written_in(card.markdown) == "zh"
    assert [[button.label for button in row] for row in card.buttons] == [["确认", "修改", "取消"]]


async def test_an_english_request_gets_an_english_card_from_a_chinese_client(start_bot: StartBot) -> None:
    bot = await start_bot(WEEKLY, "It is there.")
    await bot.hears("remind me every monday at nine to stretch", language="zh-hans")

    assert bot.screen[0].startswith("**Shall I set this up?**")


async def test_each_message_has_its_own_language(start_bot: StartBot) -> None:
    bot = await start_bot(Failure(FailureKind.AUTH), Failure(FailureKind.AUTH))
    await bot.hears("what is the weather in Paris?", language="zh")
    await bot.hears("巴黎的天气怎么样？", language="en")

    english, chinese = bot.screen
    assert written_in(english) == "en"
    assert written_in(chinese) == "zh"


@pytest.mark.parametrize(
    ("command", "words"),
    [("/remind 明天9点 给安打电话", "届时"), ("/remind tomorrow at 9:00 call Ann", "I will remind you")],
)
async def test_a_command_with_words_is_answered_in_their_language(
    start_bot: StartBot, command: str, words: str
) -> None:
    bot = await start_bot()
    await bot.hears(command, language="en" if "明天" in command else "zh")

    assert words in bot.screen[-1]


async def test_a_command_alone_is_answered_in_that_of_the_client(start_bot: StartBot) -> None:
    bot = await start_bot("你好。")
    await bot.hears("你好，今天怎么样？")
    await bot.hears("/stop", language="en")
    assert bot.screen[-1] == "Nothing is running here."
    await bot.hears("/stop")
    assert bot.screen[-1] == "这里没有正在运行的任务。"


async def test_what_somebody_has_chosen_for_the_chat_holds(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/language en")
    await bot.hears("/remind 2020-01-01 9:00 喝水")

    assert written_in(bot.screen[-1]) == "en"


async def test_a_press_speaks_as_the_message_does_also_after_a_restart(start_bot: StartBot) -> None:
    bot = await start_bot("你好。")
    await bot.hears("你好，今天怎么样？", language="en")
    await bot.hears("/help 不知道", language="en")
    assert written_in(bot.screen[-1]) == "zh"
    await bot.restart()
    await bot.hears("/language", language="en")
    await bot.channel.presses("English")
    await bot.app.settled()

    assert bot.screen[-1] == "I will use English here."
