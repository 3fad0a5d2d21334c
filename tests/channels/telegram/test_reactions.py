"""People's reactions to messages on Telegram, and those that they take back."""

from channels.base import OutboundMessage, ReactionAdded, ReactionRemoved
from channels.telegram.adapter import TelegramChannel
from parley.testing.emulators.telegram import TelegramEmulator
from tests.channels.telegram.conftest import Inbox, key_of


async def test_a_reaction_is_told_and_that_it_was_taken_back(
    telegram: TelegramEmulator, channel: TelegramChannel, inbox: Inbox
) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann)
    await channel.send(key_of(telegram, chat), OutboundMessage(markdown="Oslo."), "k")
    answer = chat.bot_messages[-1]
    await chat.reacts(ann, answer, "👍")
    await chat.reacts(ann, answer, "👎", before=["👍"])
    await chat.reacts(ann, answer, before=["👎"])
    told = [await inbox.next() for _ in range(3)]

    assert [(type(event), event.emoji) for event in told if isinstance(event, ReactionAdded | ReactionRemoved)] == [
        (ReactionAdded, "👍"),
        (ReactionAdded, "👎"),
        (ReactionRemoved, "👎"),
    ]
    assert {event.sender.id for event in told} == {str(ann.id)}
    assert len({event.event_id for event in told}) == 3
