"""A plugin posts a message with buttons, and each press of them counts once and for those only who may press."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

import pytest
from structlog.testing import capture_logs

from channels.base import Button, OutboundMessage, Posted
from gateway.app.plugin_commands import PRESS_WITHIN
from gateway.chat.replies import Answer, Settling
from gateway.commands.command import Command, Invocation, reply
from gateway.commands.press import Press, press_action
from gateway.permissions.rights import TALK, Right, always
from gateway.permissions.roles import Role
from gateway.plugin import Plugin
from gateway.store.connection import Connection
from tests.clock import Hasty
from tests.gateway.answering_late import LateChannel
from tests.gateway.bot import Bot
from tests.gateway.conftest import StartBot
from tests.gateway.test_copies_of_questions import copied, presses, text_of
from tests.plugins.poll import Poll
from tests.postgres import execute

GONE = "This button does nothing now: what it belongs to is removed, switched off or waits for an owner's approval."
OVER = "This button does nothing any more: its message has changed since or was erased."
FAILED = "The plugin {name} failed and could not do that. /plugins {name} tells why."
VOTES = "SELECT person, choice, times FROM poll_votes ORDER BY person"


def errors(logs: Sequence[object]) -> list[tuple[str, str]]:
    """Return the errors in a log, each with the name that it tells."""
    found = [each for each in logs if isinstance(each, dict) and each["log_level"] == "error"]
    return [(each["event"], str(each.get("plugin") or each.get("name", ""))) for each in found]


def buttons(bot: Bot) -> list[str]:
    return [each.label for _, message in bot.channel.posts for row in message.buttons for each in row]


async def press(bot: Bot, button: str, sender: str = "ann") -> None:
    await bot.channel.presses(button, sender=sender)
    await bot.app.settled()


async def test_a_vote_is_shown_in_the_message_that_was_pressed(start_bot: StartBot, database: str | None) -> None:
    bot = await start_bot(plugins=(Poll,), database=database)
    await bot.hears("/poll Drink?", group="team")

    await press(bot, "Tea", "ann")
    await press(bot, "Coffee", "bob")
    await press(bot, "Coffee", "ann")

    assert bot.screen == ["Drink? Tea 0, Coffee 2"]
    assert buttons(bot) == ["Tea", "Coffee", "Close"]
    assert execute(bot.home, database, VOTES) == [("ann", 1, 2), ("bob", 1, 1)]


async def test_a_vote_after_a_restart_counts_too(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Poll,))
    await bot.hears("/poll Drink?")

    await bot.restart()
    await press(bot, "Tea")

    assert bot.screen == ["Drink? Tea 1, Coffee 0"]


async def test_a_press_that_is_delivered_twice_counts_once(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Poll,))
    await bot.hears("/poll Drink?")
    await press(bot, "Tea")

    await bot.channel.deliver(bot.channel.heard[-1])
    await bot.app.settled()

    assert execute(bot.home, None, VOTES) == [("ann", 0, 1)]


async def test_a_press_before_the_platform_has_acknowledged_the_message_counts(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Poll,), channel=LateChannel(keeps_keys=False))
    lost, known, action = await copied(bot, "/poll Drink?", "Tea")

    await presses(bot, lost, action)
    await presses(bot, known, action)

    assert text_of(bot, lost) == text_of(bot, known) == "Drink? Tea 1, Coffee 0"
    assert execute(bot.home, None, VOTES) == [("ann", 0, 2)]


async def test_a_button_that_the_message_has_no_more_does_nothing(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Poll,))
    await bot.hears("/poll Drink?")
    [(posted, message)] = bot.channel.posts
    action = message.buttons[0][0].action
    await press(bot, "Close")

    await presses(bot, posted, action)

    assert bot.screen == ["Drink? Tea 0, Coffee 0", OVER]
    assert execute(bot.home, None, VOTES) == []


async def test_a_press_in_another_chat_than_that_of_the_button_does_nothing(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Poll,))
    await bot.hears("/poll Drink?", group="team")
    [(_, message)] = bot.channel.posts
    elsewhere = Posted(chat=bot.channel.chat("ann"), message_id="1")

    await presses(bot, elsewhere, message.buttons[0][0].action)

    assert bot.screen[-1] == OVER
    assert execute(bot.home, None, VOTES) == []


async def test_what_a_button_does_may_be_typed_in_its_chat_while_it_is_there(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Poll,))
    await bot.hears("/poll Drink?", group="team")

    await bot.hears("/poll_vote 1 0", group="team")
    assert bot.screen[-1] == "Drink? Tea 1, Coffee 0"
    await bot.hears("/poll_vote 1 1", sender="bob")
    assert bot.screen[-1] == OVER
    await bot.hears("/poll_vote 2 1", group="team")
    assert bot.screen[-1] == OVER
    await bot.hears("/poll_vote", group="team")
    assert bot.screen[-1] == OVER

    assert execute(bot.home, None, VOTES) == [("ann", 0, 1)]


async def test_the_buttons_of_a_plugin_that_is_gone_say_so(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Poll,))
    await bot.hears("/poll Drink?")
    await bot.stop()
    gone = await start_bot(plugins=(), channel=bot.channel)

    await press(gone, "Tea")

    assert gone.screen == ["Drink? Tea 0, Coffee 0", GONE]
    assert gone.llm.requests == []


async def test_a_stranger_presses_nothing(start_bot: StartBot) -> None:
    bot = await start_bot(plugins=(Poll,))
    await bot.hears("/poll Drink?", group="team")

    await press(bot, "Tea", "a stranger")

    assert execute(bot.home, None, VOTES) == []


class Jammed(Exception):
    """Is no error that the store knows."""


class Doors(Plugin):
    """Has buttons of several kinds."""

    name = "doors"
    heard: ClassVar[list[tuple[str, Role, str, str]]] = []

    async def show(self, given: Invocation) -> Answer:
        labels = ("open", "lock", "raise", "break", "look", "hang")
        row = tuple(Button(label=each, action=press_action("doors", each, "of oak")) for each in labels)
        return OutboundMessage(markdown="A door.", buttons=(row,))

    async def open(self, given: Invocation) -> Answer:
        self.heard.append((given.sender.id, given.role, given.arguments, str(given.chat)))
        return reply("It is open.")

    async def fail(self, given: Invocation) -> Answer:
        raise RuntimeError("the hinge")

    async def spoil(self, given: Invocation) -> Answer:
        def change(connection: Connection) -> None:
            connection.execute("UPDATE chats SET language = 'zh'")
            raise Jammed

        return Settling(change)

    async def look(self, given: Invocation) -> Answer:
        def change(connection: Connection) -> None:
            next(iter(connection.execute("SELECT 1 FROM chats WHERE chat = ''")))

        return Settling(change)

    async def hang(self, given: Invocation) -> Answer:
        await asyncio.get_running_loop().create_future()
        return None

    def commands(self) -> Sequence[Command]:
        return (Command("door", {"en": "Show", "zh": "门"}, self.show, rights=always(TALK)),)

    def presses(self) -> Sequence[Press]:
        owner = Right("admin", Role.OWNER, Role.OWNER, refusal="only_owners")
        return (
            Press("open", self.open, always(TALK)),
            Press("lock", self.open, always(owner)),
            Press("raise", self.fail, always(TALK)),
            Press("break", self.spoil, always(TALK)),
            Press("look", self.look, always(TALK)),
            Press("hang", self.hang, always(TALK)),
        )


async def test_it_is_told_who_pressed_with_which_role_which_value_and_where(start_bot: StartBot) -> None:
    Doors.heard.clear()
    bot = await start_bot(plugins=(Doors,))
    await bot.hears("/door", group="team")

    await press(bot, "open", "bob")

    chat = str(bot.channel.chat("bob", group="team"))
    assert Doors.heard == [("bob", Role.MEMBER, "of oak", chat)]


async def test_who_has_not_the_right_is_refused_before_the_plugin_hears_of_it(start_bot: StartBot) -> None:
    Doors.heard.clear()
    bot = await start_bot(plugins=(Doors,))
    await bot.hears("/door", group="team")

    await press(bot, "lock", "bob")
    assert bot.screen[-1] == "Only owners can do this."
    await press(bot, "lock", "ann")

    assert [who for who, *_ in Doors.heard] == ["ann"]


@pytest.mark.parametrize("button", ["raise", "break", "look"])
async def test_a_press_that_fails_is_logged_and_told_and_the_chat_goes_on(start_bot: StartBot, button: str) -> None:
    bot = await start_bot("Hello.", plugins=(Doors,))
    await bot.hears("/door")

    with capture_logs() as logs:
        await press(bot, button)

    assert bot.screen[-1] == FAILED.format(name="doors")
    assert ("a plugin failed", "doors") in errors(logs)
    assert await bot.made.base.store.inbox.waiting() == []
    await bot.hears("hi")
    assert bot.screen[-1] == "Hello."


async def test_a_press_that_hangs_is_given_up_and_the_chat_goes_on(start_bot: StartBot) -> None:
    bot = await start_bot("Hello.", plugins=(Doors,), clock=Hasty(PRESS_WITHIN))
    await bot.hears("/door")

    with capture_logs() as logs:
        await press(bot, "hang")

    assert bot.screen[-1] == FAILED.format(name="doors")
    assert ("a plugin failed", "doors") in errors(logs)
    await bot.hears("hi")
    assert bot.screen[-1] == "Hello."


@pytest.mark.parametrize(
    ("topics", "why"), [(("a", "a"), "/doors_a"), (("a b",), "'doors_a b', which has other characters")]
)
async def test_topics_that_cannot_be_are_named(start_bot: StartBot, topics: tuple[str, ...], why: str) -> None:
    class Odd(Doors):
        def presses(self) -> Sequence[Press]:
            return [Press(topic, self.open, always(TALK)) for topic in topics]

    with pytest.raises(ValueError, match=why):
        await start_bot(plugins=(Odd,))


async def test_a_press_that_a_restart_cuts_off_is_handled_after_it_with_the_same_id(start_bot: StartBot) -> None:
    told: list[str] = []
    begun = asyncio.Event()

    class Slow(Poll):
        async def vote(self, given: Invocation) -> Answer:
            told.append(given.asked)
            if len(told) == 1:
                begun.set()
                await asyncio.get_running_loop().create_future()
            return await super().vote(given)

    bot = await start_bot(plugins=(Slow,))
    await bot.hears("/poll Drink?")
    await bot.channel.presses("Tea")
    await begun.wait()

    await bot.restart()
    await bot.app.settled()

    assert told == [bot.channel.heard[-1].event_id] * 2
    assert bot.screen == ["Drink? Tea 1, Coffee 0"]
    assert execute(bot.home, None, VOTES) == [("ann", 0, 1)]
