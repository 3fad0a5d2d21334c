"""The command /search, and the tool search_chat of the model."""

import re

import pytest

from agent_core.messages import ToolResultMessage, message_adapter, text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import calls
from agent_core.origin import named
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import tool
from channels.memory import NO_PACE, MemoryChannel
from gateway.plugins.search.command import SNIPPET, snippet
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.tasking import rows


async def chatty(start_bot: StartBot, *answers: object) -> Bot:
    return await start_bot(*answers, channel=MemoryChannel(limits=NO_PACE))


async def test_messages_and_answers_are_found_after_a_new_conversation_too(start_bot: StartBot) -> None:
    bot = await chatty(start_bot, "Once a week.", "Hello.")
    await bot.hears("How often do I water the cactus?")
    await bot.hears("/new")
    await bot.hears("hello")

    await bot.hears("/search WEEK")
    assert re.search(r"with \*\*WEEK\*\*, newest first:\n\n- .+, Ada: Once a week\.", bot.screen[-1])
    await bot.hears("/search cactus water")
    assert re.search(r"- .+, you: How often do I water the cactus", bot.screen[-1])


async def test_a_chinese_word_of_two_characters_is_found(start_bot: StartBot) -> None:
    bot = await chatty(start_bot, "好的。")
    await bot.hears("今天数据库备份完成了")

    await bot.hears("/search 备份", language="zh")

    assert "您：今天数据库备份完成了" in bot.screen[-1]


async def test_older_results_come_by_a_button(start_bot: StartBot) -> None:
    bot = await chatty(start_bot, *["ok"] * 7)
    for number in range(7):
        await bot.hears(f"plant {number}")

    await bot.hears("/search plant")
    assert [f"plant {number}" in bot.screen[-1] for number in range(7)] == [False, False, True, True, True, True, True]
    await bot.channel.presses("Older")
    await bot.app.settled()

    assert "plant 1" in bot.screen[-1]
    assert "plant 0" in bot.screen[-1]
    assert "plant 2" not in bot.screen[-1]
    assert not bot.channel.posts[-1][1].buttons


@pytest.mark.parametrize("words", ["", "   "])
@pytest.mark.parametrize(
    ("language", "usage"),
    [
        ("en", "Write `/search WORDS`, for example `/search plants watering`."),
        ("zh", "请发送 `/search 关键词`，例如 `/search 数据库 备份`。"),
    ],
)
async def test_without_a_word_the_usage_is_shown(start_bot: StartBot, words: str, language: str, usage: str) -> None:
    bot = await chatty(start_bot)

    await bot.hears(f"/search {words}", language=language)

    assert bot.screen == [usage]


async def test_marks_alone_are_no_words_to_search_for(start_bot: StartBot) -> None:
    bot = await chatty(start_bot)

    await bot.hears("/search ?!")

    assert bot.screen[-1] == "There is no word in this to look for."


async def test_nothing_found_quotes_the_words_harmlessly(start_bot: StartBot) -> None:
    bot = await chatty(start_bot)

    await bot.hears('/search "; DROP TABLE *inbox*')

    assert bot.screen[-1].startswith("No message has all of these words:")
    assert "*inbox*" not in bot.screen[-1].replace("\\*", "")


async def test_a_group_finds_only_what_was_said_there(start_bot: StartBot) -> None:
    bot = await chatty(start_bot, "ok", "ok")
    await bot.hears("my secret plan")
    await bot.hears("our garden plan", group="team")

    await bot.hears("/search plan", group="team")

    assert "our garden plan" in bot.screen[-1]
    assert "secret" not in bot.screen[-1]


async def test_another_persons_chat_is_not_searched(start_bot: StartBot) -> None:
    bot = await chatty(start_bot, "ok")
    await bot.hears("my secret plan", sender="bob")

    await bot.hears("/search secret")

    assert bot.screen[-1].startswith("No message")


async def test_the_model_finds_what_was_said_in_an_earlier_conversation(wired_bot: StartBot) -> None:
    seen: list[str] = []

    def answers(request: LlmRequest) -> str:
        seen.append(text_of(request.messages[-1].content))
        return "Once a week."

    bot = await wired_bot("Noted.", calls(("search_chat", {"words": "cactus"})), answers)
    await bot.hears("I water the cactus once a week")
    await bot.hears("/new")
    await bot.hears("How often do I water the cactus?")

    assert "the person: I water the cactus once a week" in seen[0]


@tool()
async def read_page() -> ToolResult:
    """Read a page."""
    return ToolResult.of("The cactus club meets on Monday", named("page club.example"))


async def test_an_answer_that_repeats_a_page_is_found_with_the_page_as_its_source(wired_bot: StartBot) -> None:
    repeated = calls(("search_chat", {"words": "club"}))
    bot = await wired_bot(
        calls(("read_page", {})), "The club meets on Monday.", repeated, "Monday.", tools=(read_page,)
    )
    await bot.hears("When does it meet?")
    await bot.hears("/new")
    await bot.hears("When was it?")

    (found,) = [
        message
        for (row,) in rows(bot.home, "SELECT message FROM transcript")
        if isinstance(message := message_adapter.validate_json(str(row)), ToolResultMessage)
        and message.tool_name == "search_chat"
    ]
    assert found.origin.sources == ("page club.example",)
    assert "you (from page club.example): The club meets on Monday." in text_of(found.content)


async def test_a_long_search_says_how_to_see_older_messages(start_bot: StartBot) -> None:
    words = "a very long row of words about the watering of all the plants in my garden"
    bot = await chatty(start_bot, *["ok"] * 7)
    for _ in range(7):
        await bot.hears(words)

    await bot.hears(f"/search {words}")

    assert "Search with fewer words" in bot.screen[-1]
    assert bot.channel.posts[-1][1].buttons == ()


async def test_a_message_is_found_by_the_names_of_its_files(start_bot: StartBot) -> None:
    bot = await start_bot("Read it.", "Thanks.")
    await bot.hears("here it is", files={"tide-table.pdf": b"%PDF-1.7"})

    await bot.hears("/search tide table")

    assert "here it is" in bot.screen[-1]


def test_a_snippet_is_one_short_line_around_the_word() -> None:
    text = f"{'a ' * 300}cactus\n{'b ' * 300}"

    shown = snippet(text, "CACTUS")

    assert "cactus" in shown
    assert len(shown) <= SNIPPET
    assert (shown[0], shown[-1]) == ("…", "…")
    assert snippet("short\ntext", "text") == "short text"
