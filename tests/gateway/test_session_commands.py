"""The commands /sessions, /resume and /rename."""

import asyncio
import re

import pytest

from agent_core.messages import text_of
from agent_core.models.llm import LlmRequest
from agent_core.models.scripted import Waits
from channels.memory import NO_PACE, MemoryChannel
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot


async def chatty(start_bot: StartBot, *answers: object) -> Bot:
    return await start_bot(*answers, channel=MemoryChannel(limits=NO_PACE))


def ids(bot: Bot) -> list[str]:
    """Return the ids in the last list of conversations."""
    return re.findall(r"- `([0-9a-f]+)`", bot.screen[-1])


async def test_a_conversation_is_listed_resumed_and_left_again(start_bot: StartBot) -> None:
    heard: list[str] = []

    def answers(request: LlmRequest) -> str:
        heard.append("\n".join(text_of(message.content) for message in request.messages))
        return "ok"

    bot = await chatty(start_bot, "Hello Ann.", "ok", answers, answers)
    await bot.hears("My name is Ann")
    await bot.hears("/new")
    await bot.hears("another matter")

    await bot.hears("/sessions")
    assert "**another matter** – " in bot.screen[-1]
    assert "1 answer, this one" in bot.screen[-1]
    newest, oldest = ids(bot)
    await bot.hears(f"/resume {oldest}")
    assert "Back in **My name is Ann**" in bot.screen[-1]
    await bot.hears("Who am I?")
    assert "My name is Ann" in heard[-1]
    assert "another matter" not in heard[-1]

    await bot.hears(f"/resume {newest}")
    await bot.hears("and this?")
    assert "another matter" in heard[-1]


async def test_a_resumed_conversation_is_the_current_one_after_a_restart_too(start_bot: StartBot) -> None:
    bot = await chatty(start_bot, "Hello Ann.", "ok", "ok")
    await bot.hears("My name is Ann")
    await bot.hears("/new")
    await bot.hears("another matter")
    await bot.hears("/sessions")
    await bot.channel.presses("My name is Ann")
    await bot.app.settled()
    await bot.restart()

    await bot.hears("/sessions")

    assert re.search(r"\*\*My name is Ann\*\* – .+, this one", bot.screen[-1])


async def test_a_conversation_gets_the_name_that_people_give_it(start_bot: StartBot) -> None:
    bot = await chatty(start_bot, "ok")
    await bot.hears("what about the roses")

    await bot.hears("/rename Garden *plans*")
    assert bot.screen[-1] == "This conversation is called **Garden \\*plans\\*** now."
    await bot.hears("/sessions")
    assert "**Garden \\*plans\\***" in bot.screen[-1]


@pytest.mark.parametrize("wanted", ["zzzzzz", "%", "' OR 1=1", "a", "0" * 500])
async def test_an_unknown_id_gets_a_clear_answer(start_bot: StartBot, wanted: str) -> None:
    bot = await chatty(start_bot, "ok")
    await bot.hears("hello")

    await bot.hears(f"/resume {wanted}")

    assert "/sessions lists" in bot.screen[-1]
    assert len(bot.screen[-1]) < 200


async def test_another_chats_conversation_cannot_be_resumed(start_bot: StartBot) -> None:
    bot = await chatty(start_bot, "ok", "ok")
    await bot.hears("hello", sender="bob")
    await bot.hears("/sessions", sender="bob")
    (theirs,) = ids(bot)
    await bot.hears("hello")

    await bot.hears(f"/resume {theirs}")

    assert bot.screen[-1].startswith(f"No conversation here has the id {theirs}.")


@pytest.mark.usefixtures("no_progress")
async def test_only_who_asked_may_leave_a_run_by_resuming_another_conversation(start_bot: StartBot) -> None:
    gate = asyncio.Event()
    waits = Waits(gate, "later")
    bot = await chatty(start_bot, "ok", waits)
    await bot.hears("hello", group="team")
    await bot.hears("/sessions", group="team")
    (first,) = ids(bot)
    await bot.hears("/new", group="team")
    await bot.channel.hears("a long one", group="team")
    await waits.reached.wait()

    await bot.channel.hears(f"/resume {first}", sender="bob", group="team")
    await bot.channel.until(lambda: "Only the person who asked" in bot.screen[-1])
    gate.set()
    await bot.app.settled()


async def test_a_title_shows_at_once_before_the_first_message(start_bot: StartBot) -> None:
    bot = await start_bot("One.")

    await bot.hears("first")
    await bot.hears("/new")
    await bot.hears("/rename Garden plans")
    await bot.hears("/sessions")

    assert "**Garden plans** – " in bot.screen[-1]
    assert "**first**" in bot.screen[-1]


async def test_the_title_of_the_very_first_conversation_shows_before_its_first_message(start_bot: StartBot) -> None:
    bot = await start_bot()

    await bot.hears("/rename Garden plans")
    await bot.hears("/sessions")

    assert "**Garden plans** – " in bot.screen[-1]


async def test_a_titled_conversation_without_messages_can_be_resumed(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Roses.")
    await bot.hears("/rename Garden plans")
    await bot.hears("/new")
    await bot.hears("first")

    await bot.hears("/sessions")
    listed = re.search(r"`(\w+)` \*\*Garden plans\*\* – .+, nothing said yet$", bot.screen[-1], re.MULTILINE)
    assert listed is not None
    await bot.hears(f"/resume {listed[1]}")
    await bot.hears("what about the roses?")

    assert bot.screen[-1] == "Roses."
    assert len([each for each in bot.llm.requests[-1].messages if each.role == "user"]) == 1


async def test_its_title_is_erased_with_the_chat(start_bot: StartBot) -> None:
    bot = await start_bot()
    await bot.hears("/rename Garden plans")
    session = (await bot.made.base.store.chats.get(bot.channel.chat())).session

    await bot.hears("/forget me")
    await bot.channel.presses("Erase for good")
    await bot.app.settled()

    assert await bot.made.base.store.sessions.title(session) == ""


@pytest.mark.parametrize("page", ["9" * 5_000, "0", "00", "²"])
async def test_any_number_of_a_page_is_answered(start_bot: StartBot, page: str) -> None:
    bot = await chatty(start_bot, "Hello.")
    await bot.hears("hello")
    await bot.hears(f"/sessions {page}")
    assert len(bot.screen) == 2
