"""The real adapter and the real SDK against an emulated Slack, over sockets."""

from channels.base import (
    CatchesUp,
    Channel,
    Deletes,
    Downloads,
    FindsSent,
    MessageReceived,
    OutboundMessage,
    ReadsHistory,
    ShowsTyping,
)
from channels.slack.adapter import SlackChannel
from tests.channels.slack.conftest import Inbox
from tests.emulators.slack import SlackEmulator


async def test_it_is_a_channel_with_all_further_powers(channel: SlackChannel) -> None:
    plain: Channel = channel

    assert plain.name == "slack"
    for power in (ShowsTyping, Downloads, Deletes, FindsSent, ReadsHistory, CatchesUp):
        assert isinstance(channel, power)


async def test_a_message_comes_in_and_an_answer_goes_out(
    slack: SlackEmulator, channel: SlackChannel, inbox: Inbox
) -> None:
    ann = slack.person("Ann", language="de-DE")
    chat = slack.private(ann)
    await chat.says(ann, "hello")

    event = await inbox.next()
    assert isinstance(event, MessageReceived)
    assert (event.text, event.sender.id, event.sender.language) == ("hello", ann.id, "de-DE")
    await channel.typing(event.chat)
    posted = await channel.send(event.chat, OutboundMessage(markdown="**Hi** `Ann`"), "k1")
    await channel.edit(posted, OutboundMessage(markdown="Bye"))

    assert chat.screen[-1] == "Bye"
    assert [action.action for action in chat.actions] == ["reaction", "reaction removed"]
    await slack.wait_for(lambda: slack.unheard == 0)
