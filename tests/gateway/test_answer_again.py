"""/retry has the last message answered again, by another model if one is named."""

import asyncio

import pytest

from agent_core.loop.model_chain import Candidate
from agent_core.messages import UserMessage, text_of
from agent_core.models.llm import ModelInfo
from agent_core.models.scripted import ScriptedLlm, Turn, Waits, calls
from agent_core.tools.tool import Acts, tool
from channels.base import MessageReceived
from gateway.runs.model_set import ModelMenu
from gateway.texts.say import LANGUAGES
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.taking_in import taken_in

BIG = ModelInfo(id="anthropic/big", context_window=200_000)
CHANGED = "I am answering again. What I changed while answering the first time stays changed, files too."


def offering(*turns: Turn) -> ModelMenu:
    return ModelMenu((Candidate(BIG, ScriptedLlm(*turns)),))


def asked(bot: Bot) -> list[str]:
    """Return the users' words in the last request."""
    said = [text_of(message.content) for message in bot.llm.requests[-1].messages if isinstance(message, UserMessage)]
    return [words.split("\n")[-1] for words in said]


async def test_the_last_message_is_answered_again(wired_bot: StartBot) -> None:
    bot = await wired_bot("One.", "Two.", "Two, better.")

    for words in ("first", "second", "/retry"):
        await bot.hears(words)

    assert bot.screen == ["One.", "Two.", "Two, better."]
    assert asked(bot) == ["first", "second"]


async def test_it_can_be_repeated_as_often_as_one_likes(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.", "Three.")

    for words in ("first", "/retry", "/retry"):
        await bot.hears(words)

    assert bot.screen == ["One.", "Two.", "Three."]
    assert asked(bot) == ["first"]


async def test_another_model_answers_once(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.", models=offering("From the big one."))

    for words in ("first", "/retry big", "second"):
        await bot.hears(words)

    assert bot.screen == ["One.", "From the big one.", "Two."]


async def test_a_mistyped_model_is_answered_with_the_nearest_one(start_bot: StartBot) -> None:
    bot = await start_bot("One.", models=offering("From the big one."))

    await bot.hears("first")
    await bot.hears("/retry antropic/bg")
    await bot.hears("yes")

    assert bot.screen[1] == "I know no model `antropic/bg`. Did you mean `anthropic/big`?"
    assert bot.screen[2].startswith("From the big one.")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["nothing like it", "a" * 5_000, "<@everyone>", '"; DROP', "-1", "1e309"])
async def test_an_unknown_model_answers_nothing(start_bot: StartBot, name: str, language: str) -> None:
    bot = await start_bot("One.", models=offering())

    await bot.hears("first", language=language)
    await bot.hears(f"/retry {name}", language=language)

    assert len(bot.llm.requests) == 1
    assert len(bot.screen[1]) < 300


async def test_a_model_that_the_role_may_not_use_is_refused(start_bot: StartBot) -> None:
    bot = await start_bot("One.", models=offering(), settings={"member_models": frozenset({"scripted"})})

    await bot.hears("first", sender="bob")
    await bot.hears("/retry big", sender="bob")

    assert bot.screen[1].startswith("`anthropic/big` is not open to your role.")


async def test_an_admin_gives_nobody_a_model_that_the_role_may_not_use(start_bot: StartBot) -> None:
    bot = await start_bot("One.", models=offering(), settings={"member_models": frozenset({"scripted"})})

    await bot.hears("first", sender="bob", group="team")
    await bot.hears("/retry big", group="team")

    assert bot.screen[1] == "`anthropic/big` is not open to the role of the person whose message it was."


async def test_in_a_group_only_the_person_or_an_admin_has_it_answered_again(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.")

    await bot.hears("first", sender="bob", group="team")
    await bot.hears("/retry", sender="carl", group="team")
    await bot.hears("/retry", sender="ann", group="team")

    assert bot.screen == [
        "One.",
        "Only the person whose message it was, or an admin, can have it answered again.",
        "Two.",
    ]


@pytest.mark.parametrize(("acts", "told"), [("write", [CHANGED]), ("read", [])])
async def test_what_tools_changed_stays_and_the_person_is_told(
    start_bot: StartBot, acts: Acts, told: list[str]
) -> None:
    @tool(acts=acts)
    async def act() -> str:
        """Act."""
        return "Done."

    bot = await start_bot(calls(("act", {})), "One.", "Two.", tools=(act,))

    await bot.hears("first")
    await bot.hears("/retry")

    assert [text for text in bot.screen if text == CHANGED] == told


async def test_a_run_in_progress_is_stopped_and_its_message_answered(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()), "Two.")

    await bot.channel.hears("first")
    await bot.channel.until(lambda: bool(bot.llm.requests))
    await bot.hears("/retry")

    assert bot.screen[-1] == "Two."
    assert asked(bot) == ["first"]


async def test_there_may_be_nothing_to_answer_again(start_bot: StartBot) -> None:
    bot = await start_bot("One.")

    await bot.hears("/retry")
    await bot.hears("first")
    await bot.hears("/new")
    await bot.hears("/retry")

    nothing = "There is nothing to try again here any more."
    assert (bot.screen[0], bot.screen[-1]) == (nothing, nothing)


async def test_the_command_executed_again_after_a_crash_answers_the_same_message(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.", "Two, better.")
    await bot.hears("first")
    await bot.hears("second")
    chat = bot.channel.heard[0].chat
    session = (await bot.made.base.store.chats.get(chat)).session
    last = bot.channel.heard[-1]
    assert isinstance(last, MessageReceived)
    retry = last.as_command("retry", "").model_copy(update={"event_id": "again"})
    assert await bot.made.base.store.inbox.accept(retry) is not None
    await bot.made.base.store.transcript.rewind(session, 1, "again")

    await bot.restart()
    await bot.app.settled()

    assert bot.screen[-1] == "Two, better."
    assert asked(bot) == ["first", "second"]


async def test_an_admin_stops_no_run_of_an_owner(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "For Ann."))
    await bot.hears("/role memory:bob admin")
    await bot.channel.hears("from Ann", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 1)

    await bot.channel.hears("/retry", sender="bob", group="team")
    await bot.channel.until(lambda: bot.screen[-1].startswith("Only the person whose message it was"))
    said.set()
    await bot.app.settled()

    assert "For Ann." in bot.screen
    assert len(bot.llm.requests) == 1


async def test_what_another_person_wrote_meanwhile_is_answered_once_and_afterwards(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()), "For Bob, again.", "For Carl.")
    await bot.channel.hears("from Bob", sender="bob", group="team")
    await bot.channel.until(lambda: bool(bot.llm.requests))
    await bot.channel.hears("from Carl", sender="carl", group="team")

    await bot.hears("/retry", sender="bob", group="team")

    assert bot.screen == ["Stopped.", "For Bob, again.", "For Carl."]
    assert asked(bot) == ["from Bob", "from Carl"]
    assert await bot.made.base.store.inbox.waiting() == []


async def test_what_the_person_added_to_the_run_is_answered_with_it(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()), "Both.")
    await bot.channel.hears("first")
    await bot.channel.until(lambda: bool(bot.llm.requests))
    await bot.channel.hears("and more")
    await taken_in(bot)

    await bot.hears("/retry")

    assert bot.screen == ["Stopped.", "Both."]
    assert asked(bot) == ["first", "and more"]


async def test_a_run_that_a_crash_left_is_not_resumed_but_answered_again(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()), "Two.", "For Carl.")
    await bot.channel.hears("first", sender="bob", group="team")
    await bot.channel.until(lambda: bool(bot.llm.requests))
    await bot.channel.hears("from Carl", sender="carl", group="team")
    first = next(event for event in bot.channel.heard if isinstance(event, MessageReceived))
    retry = first.as_command("retry", "").model_copy(update={"event_id": "again"})
    assert await bot.made.base.store.inbox.accept(retry) is not None

    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["Stopped.", "Two.", "For Carl."]
    assert asked(bot) == ["first", "from Carl"]
