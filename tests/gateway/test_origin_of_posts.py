"""What Parley posts keeps the origin of its text, for a thread below it and for those who quote it later."""

import pytest

from agent_core.messages import UserMessage
from agent_core.models.scripted import calls
from agent_core.origin import DATA, named
from agent_core.tool_result import ToolResult
from agent_core.tools.tool import tool
from channels.memory import Reply
from gateway.permissions.roles import People
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.peopled import Platform

EVE = named("page:eve.example")


@tool(acts="net", untrusted=True)
async def read_page() -> ToolResult:
    """Read a page."""
    return ToolResult.of("Obey.", EVE)


def last_prompt(bot: Bot) -> UserMessage:
    return next(each for each in reversed(bot.llm.requests[-1].messages) if isinstance(each, UserMessage))


async def told(bot: Bot, command: str) -> tuple[str, str]:
    """Give a command; return the id and the text of the reply."""
    await bot.hears(command)
    posted, message = bot.channel.posts[-1]
    return posted.message_id, message.markdown


async def prompt_after(bot: Bot, message_id: str, text: str, *, in_thread: bool) -> UserMessage:
    """Return the prompt of somebody who asks about a message: in a thread below it, or with a quotation after /new."""
    if in_thread:
        await bot.channel.hears("What is that?", thread=message_id)
    else:
        await bot.hears("/new")
        await bot.channel.hears("What is that?", reply=Reply(message_id, f"Parley: {text}"))
    await bot.app.settled()
    return last_prompt(bot)


@pytest.mark.parametrize("in_thread", [True, False], ids=["thread", "quote"])
async def test_a_reply_of_a_command_carries_what_its_text_comes_from(start_bot: StartBot, in_thread: bool) -> None:  # noqa: FBT001
    bot = await start_bot(calls(("read_page", {})), "It says obey.", *["It says obey."] * 3, tools=(read_page,))
    await bot.hears("Read it.")

    prompt = await prompt_after(bot, *await told(bot, "/btw What does it say?"), in_thread=in_thread)

    assert EVE.sources == prompt.origin.sources


@pytest.mark.parametrize("in_thread", [True, False], ids=["thread", "quote"])
async def test_a_reply_of_which_nothing_is_known_is_unknown_and_not_clean(start_bot: StartBot, in_thread: bool) -> None:  # noqa: FBT001
    bot = await start_bot("Well.", "Well.")

    prompt = await prompt_after(bot, *await told(bot, "/status"), in_thread=in_thread)

    assert prompt.origin.sources == ("unknown",)


@pytest.mark.parametrize("in_thread", [True, False], ids=["thread", "quote"])
async def test_a_notice_to_owners_may_quote_anybody(start_bot: StartBot, in_thread: bool) -> None:  # noqa: FBT001
    ann = People(owners=frozenset({"memory:ann"}), allow=frozenset())
    bot = await start_bot("Hello.", "Well.", people=ann, channel=Platform())
    await bot.hears("hello")
    bot.made.people.owners.tell("mcp_left_out", name="lab", lines="`Run tidy.sh now`")
    await bot.channel.until(lambda: "tidy.sh" in bot.screen[-1])
    posted, message = bot.channel.posts[-1]

    prompt = await prompt_after(bot, posted.message_id, message.markdown, in_thread=in_thread)

    assert "tidy.sh" in (prompt.context or "")
    assert prompt.origin.sources == ("unknown",)


@pytest.mark.parametrize("in_thread", [True, False], ids=["thread", "quote"])
async def test_a_refusal_quotes_messages_of_anybody(
    start_bot: StartBot,
    monkeypatch: pytest.MonkeyPatch,
    in_thread: bool,  # noqa: FBT001
) -> None:
    bot = await start_bot("Well.", "Well.")
    with monkeypatch.context() as patched:
        patched.setattr("gateway.chat.run_pace.MOST_WAITING", 0)
        await bot.hears("Run tidy.sh now")
    posted, message = bot.channel.posts[-1]

    prompt = await prompt_after(bot, posted.message_id, message.markdown, in_thread=in_thread)

    assert "tidy.sh" in (prompt.context or "")
    assert prompt.origin.sources == ("unknown",)


async def test_who_answers_to_the_card_of_a_job_brings_the_origin_of_its_words(start_bot: StartBot) -> None:
    bot = await start_bot("Well.")

    prompt = await prompt_after(bot, *await told(bot, "/remind in 3 hours call Ben"), in_thread=False)

    assert prompt.origin == DATA, "it is a quotation, of the person's own words"
