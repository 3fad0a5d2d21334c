"""Topics of private chats: chats of their own, also after their person has deleted them."""

from channels.base import Addressed, MessageReceived, OutboundMessage
from channels.telegram.adapter import TelegramChannel
from parley.testing.emulators.telegram import TelegramEmulator
from tests.channels.telegram.conftest import Inbox, key_of


async def test_a_topic_of_a_private_chat_is_a_direct_chat_of_its_own(
    telegram: TelegramEmulator, channel: TelegramChannel, inbox: Inbox
) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann, topics=True)
    travel = chat.topic("Travel")
    await travel.says(ann, "where to?")
    await chat.says(ann, "hello")

    in_topic, outside = [await inbox.next(), await inbox.next()]
    assert isinstance(in_topic, MessageReceived)
    assert (in_topic.chat, in_topic.addressed) == (key_of(telegram, chat, travel.thread), Addressed.DIRECT)
    assert (in_topic.reply_to, in_topic.quoted) == (None, None)
    assert outside.chat == key_of(telegram, chat)
    assert not channel.is_group(in_topic.chat)
    await channel.typing(in_topic.chat)
    await channel.send(in_topic.chat, OutboundMessage(markdown="To Oslo."), "k")

    assert (travel.screen, chat.screen) == (["To Oslo."], [])
    assert [action.action for action in travel.actions] == ["typing"]


async def test_an_answer_whose_topic_is_deleted_arrives_outside_of_it(
    telegram: TelegramEmulator, channel: TelegramChannel
) -> None:
    ann = telegram.person("Ann")
    chat = telegram.private(ann, topics=True)
    travel = chat.topic("Travel")
    key = key_of(telegram, chat, travel.thread)
    await travel.deletes_topic()

    posted = await channel.send(key, OutboundMessage(markdown="To Oslo."), "k")
    await channel.edit(posted, OutboundMessage(markdown="To Bergen."))

    assert chat.screen == ["To Bergen."]
