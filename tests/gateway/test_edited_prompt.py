"""Editing the last message has it answered again, unless something was already changed for the old words."""

import asyncio

import pytest

from agent_core.messages import UserMessage, text_of
from agent_core.models.llm import FailureKind
from agent_core.models.scripted import Failure, Waits, calls
from agent_core.tools.tool import Acts, Tool, tool
from channels.base import MessageEdited, MessageReceived
from channels.memory import NO_PACE, MemoryChannel
from gateway.chat.run_pace import BURST
from tests.clock import HandClock
from tests.gateway.approving import CHART, QUESTION, questions, recorder
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.taking_in import taken_in

OFFER = "You edited your message after I had begun to act on it, so I did not start again."
BUTTON = "Answer again with the new words"
NOTHING = "There is nothing to try again here any more."


def heard_by_the_model(bot: Bot) -> list[str]:
    """Return the users' words in the last request."""
    said = [text_of(message.content) for message in bot.llm.requests[-1].messages if isinstance(message, UserMessage)]
    return [words.split("\n")[-1] for words in said]


def sent(bot: Bot, words: str) -> MessageReceived:
    return next(event for event in bot.channel.heard if isinstance(event, MessageReceived) and event.text == words)


async def edits(bot: Bot, words: str, new: str) -> None:
    await bot.channel.changes(sent(bot, words), new)
    await bot.app.settled()


def edit_of(bot: Bot, words: str, new: str) -> MessageEdited:
    said = sent(bot, words)
    return MessageEdited(
        event_id="edit", chat=said.chat, sender=said.sender, at=said.at, message_id=said.message_id, text=new
    )


async def begins(bot: Bot, words: str, **how: str) -> None:
    """Send the first message, and wait until the model is asked."""
    await bot.channel.hears(words, **how)  # type: ignore[arg-type]
    await bot.channel.until(lambda: bool(bot.llm.requests))


def offers(bot: Bot) -> list[str]:
    return [text for text in bot.screen if text.startswith(OFFER)]


def acting(acts: Acts) -> Tool:
    @tool(acts=acts)
    async def act() -> str:
        """Act."""
        return "Done."

    return act


async def test_a_run_that_changed_nothing_begins_anew_with_the_new_words(wired_bot: StartBot) -> None:
    bot = await wired_bot("One.", Waits(asyncio.Event()), "Bergen it is.")
    await bot.hears("hello")
    await bot.channel.hears("weather in Oslo")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)

    await edits(bot, "weather in Oslo", "weather in Bergen")

    assert bot.screen == ["One.", "Stopped.", "Bergen it is."]
    assert heard_by_the_model(bot) == ["hello", "weather in Bergen"]


async def test_so_does_an_exchange_that_is_over(wired_bot: StartBot) -> None:
    bot = await wired_bot(calls(("act", {})), "Oslo.", "Bergen.", tools=(acting("read"),))
    await bot.hears("weather in Oslo")

    await edits(bot, "weather in Oslo", "weather in Bergen")

    assert bot.screen[-1] == "Bergen."
    assert heard_by_the_model(bot) == ["weather in Bergen"]


async def test_it_may_be_edited_as_often_as_one_likes(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.", "Three.", "Four.", "Five.")

    await bot.hears("first")
    await edits(bot, "first", "second")
    await edits(bot, "first", "third")
    await bot.hears("/retry")
    await edits(bot, "first", "fourth")

    assert bot.screen == ["One.", "Two.", "Three.", "Four.", "Five."]
    assert heard_by_the_model(bot) == ["fourth"]


async def test_one_of_several_messages_of_a_run_keeps_the_others(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(Waits(said, "One."), "Two.", "Three.")
    await begins(bot, "to Oslo")
    await bot.channel.hears("by train")
    await taken_in(bot)
    said.set()
    await bot.app.settled()

    await edits(bot, "by train", "by ship")

    assert bot.screen[-1] == "Three."
    assert text_of(bot.llm.requests[-1].messages[-1].content).endswith("to Oslo\n\nby ship")


async def test_a_failed_run_begins_anew(start_bot: StartBot) -> None:
    bot = await start_bot(Failure(FailureKind.AUTH, "Incorrect API key provided"), "Bergen.")
    await bot.hears("weather in Oslo")

    await edits(bot, "weather in Oslo", "weather in Bergen")

    assert bot.screen[-1] == "Bergen."


# After something was changed


async def test_once_something_was_changed_a_button_offers_it(wired_bot: StartBot) -> None:
    bot = await wired_bot(calls(("act", {})), "Oslo.", "Bergen.", tools=(acting("write"),))
    await bot.hears("weather in Oslo")

    await edits(bot, "weather in Oslo", "weather in Bergen")
    assert offers(bot) == [bot.screen[-1]]
    assert bot.channel.posts[-1][1].silent

    await bot.channel.presses(BUTTON)
    await bot.app.settled()
    assert bot.screen[-1] == "Bergen."
    assert heard_by_the_model(bot) == ["weather in Bergen"]
    assert not bot.channel.posts[-3][1].buttons


async def test_a_run_that_has_changed_something_goes_on(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot(calls(("act", {})), Waits(said, "Oslo."), "Bergen.", tools=(acting("write"),))
    await bot.channel.hears("weather in Oslo")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)

    await bot.channel.changes(sent(bot, "weather in Oslo"), "weather in Bergen")
    await bot.channel.until(lambda: bool(offers(bot)))
    said.set()
    await bot.app.settled()

    assert "Oslo." in bot.screen
    assert len(bot.llm.requests) == 2


async def test_a_call_in_progress_counts(start_bot: StartBot) -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    @tool(acts="write")
    async def act() -> str:
        """Act."""
        begun.set()
        await over.wait()
        return "Done."

    bot = await start_bot(calls(("act", {})), "Oslo.", tools=(act,))
    await bot.channel.hears("weather in Oslo")
    await begun.wait()

    await bot.channel.changes(sent(bot, "weather in Oslo"), "weather in Bergen")
    await bot.channel.until(lambda: bool(offers(bot)))
    over.set()
    await bot.app.settled()

    assert "Oslo." in bot.screen


async def test_a_call_that_waits_for_approval_does_not_count(start_bot: StartBot) -> None:
    run, ran = recorder()
    bot = await start_bot(CHART, "No chart.", tools=(run,))
    await bot.channel.hears("draw it")
    await bot.channel.until(lambda: bool(questions(bot)))

    await edits(bot, "draw it", "describe it")

    assert (bot.screen[-1], ran, questions(bot)) == ("No chart.", [], [])
    assert QUESTION not in "".join(bot.screen)


async def test_two_edits_leave_one_line_whose_button_means_the_last_words(start_bot: StartBot) -> None:
    bot = await start_bot(calls(("act", {})), "One.", "Three.", tools=(acting("write"),))
    await bot.hears("first")

    await edits(bot, "first", "second")
    await edits(bot, "first", "third")
    assert len(offers(bot)) == 1
    await bot.channel.presses(BUTTON)
    await bot.app.settled()

    assert heard_by_the_model(bot) == ["third"]


async def test_the_button_expires_when_the_chat_moves_on(start_bot: StartBot) -> None:
    bot = await start_bot(calls(("act", {})), "One.", "Two.", tools=(acting("write"),))
    await bot.hears("first")
    await edits(bot, "first", "other")
    await bot.hears("second")

    await bot.channel.presses(BUTTON)
    await bot.app.settled()

    assert bot.screen[-1] == NOTHING
    assert len(bot.llm.requests) == 3


async def test_another_member_cannot_press_the_button(start_bot: StartBot) -> None:
    bot = await start_bot(calls(("act", {})), "One.", "Two.", tools=(acting("write"),))
    await bot.hears("first", sender="bob", group="team")
    await edits(bot, "first", "other")

    await bot.channel.presses(BUTTON, sender="carl")
    await bot.app.settled()

    assert bot.screen[-1] == "Only the person whose message it was, or an admin, can have it answered again."
    assert len(bot.llm.requests) == 2


# Edits that change nothing


async def test_an_edit_without_other_words_does_nothing(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.")
    await bot.hears("first")

    await edits(bot, "first", "first")
    await edits(bot, "first", "second")
    await edits(bot, "first", "second")

    assert bot.screen == ["One.", "Two."]
    assert await bot.made.base.store.inbox.waiting() == []


@pytest.mark.parametrize("after", ["/new", "/rewind", "second"])
async def test_an_edit_of_an_older_message_does_nothing(start_bot: StartBot, after: str) -> None:
    bot = await start_bot("One.", "Two.")
    await bot.hears("first")
    await bot.hears(after)
    shown = bot.screen

    await edits(bot, "first", "something else")

    assert bot.screen == shown
    assert await bot.made.base.store.inbox.waiting() == []


async def test_the_same_edit_delivered_again_restarts_nothing(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.")
    await bot.hears("first")
    await edits(bot, "first", "second")

    edit = bot.channel.heard[-1]
    assert isinstance(edit, MessageEdited)
    await bot.channel.deliver(edit)
    await bot.app.settled()

    assert bot.screen == ["One.", "Two."]


async def test_an_edit_does_not_touch_the_run_of_another_person(start_bot: StartBot) -> None:
    said = asyncio.Event()
    bot = await start_bot("For Bob.", Waits(said, "For Carl."))
    await bot.hears("from Bob", sender="bob", group="team")
    await bot.channel.hears("from Carl", sender="carl", group="team")
    await bot.channel.until(lambda: len(bot.llm.requests) == 2)

    await bot.channel.changes(sent(bot, "from Bob"), "other words")
    await bot.channel.until(lambda: bot.made.events.handling.is_idle)
    said.set()
    await bot.app.settled()

    assert bot.screen == ["For Bob.", "For Carl."]


# Races and crashes


async def test_what_others_say_meanwhile_is_answered_once_and_afterwards(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()), "For Bob, anew.", "For Carl.")
    await begins(bot, "from Bob", sender="bob", group="team")
    await bot.channel.hears("from Carl", sender="carl", group="team")

    await edits(bot, "from Bob", "new words")

    assert bot.screen == ["Stopped.", "For Bob, anew.", "For Carl."]
    assert heard_by_the_model(bot) == ["new words", "from Carl"]


async def test_what_the_person_added_meanwhile_is_kept(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()), "Both.")
    await begins(bot, "to Oslo")
    await bot.channel.hears("by train")
    await taken_in(bot)

    await edits(bot, "to Oslo", "to Bergen")

    assert bot.screen == ["Stopped.", "Both."]
    assert heard_by_the_model(bot) == ["to Bergen", "by train"]


async def test_an_edit_while_it_waits_to_be_answered_again_counts(start_bot: StartBot) -> None:
    clock = HandClock()
    channel = MemoryChannel(limits=NO_PACE, now=clock.time)
    bot = await start_bot(*["One."] * BURST, "Last.", clock=clock, channel=channel)
    for _ in range(BURST - 1):
        await bot.hears("hello", sender="bob")
    await bot.hears("first", sender="bob")
    await bot.channel.changes(sent(bot, "first"), "second")
    await bot.channel.until(lambda: bot.made.events.handling.is_idle)

    await bot.channel.changes(sent(bot, "first"), "third")
    await bot.channel.until(lambda: bot.made.events.handling.is_idle)
    async with clock.going_on():
        await channel.until(lambda: bot.screen[-1] == "Last.")

    assert len(bot.llm.requests) == BURST + 1
    assert heard_by_the_model(bot)[-1] == "third"


async def test_an_edit_that_a_crash_cut_short_restarts_once(start_bot: StartBot) -> None:
    bot = await start_bot("One.", "Two.", "Three.")
    await bot.hears("first")
    edit = edit_of(bot, "first", "new")
    assert await bot.made.base.store.inbox.accept(edit) is not None
    session = (await bot.made.base.store.chats.get(edit.chat)).session
    await bot.made.base.store.transcript.rewind(session, 1, edit.event_id)

    await bot.restart()
    await bot.app.settled()
    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["One.", "Two."]
    assert heard_by_the_model(bot) == ["new"]


async def test_a_run_left_by_a_crash_is_not_resumed_but_begun_anew(start_bot: StartBot) -> None:
    bot = await start_bot(Waits(asyncio.Event()), "Two.")
    await begins(bot, "first")
    edit = edit_of(bot, "first", "new")
    assert await bot.made.base.store.inbox.accept(edit) is not None

    await bot.restart()
    await bot.app.settled()

    assert bot.screen == ["Stopped.", "Two."]
    assert heard_by_the_model(bot) == ["new"]
