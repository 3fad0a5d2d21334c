"""A message of ours counts as the last one in a chat only if nothing can stand below it."""

import asyncio

import pytest
from gateway.security.masked_channel import Voice

from channels.base import ChannelError, OutboundMessage
from channels.memory import LOST
from gateway.security.secrets import Secrets
from tests.gateway.answering_late import LateChannel

HELLO = OutboundMessage(markdown="Hello.")


@pytest.fixture
def channel() -> LateChannel:
    return LateChannel()


@pytest.fixture
def voice(channel: LateChannel) -> Voice:
    return Voice(channel, Secrets())


async def test_the_message_sent_last_is_the_last_one_until_somebody_writes(voice: Voice, channel: LateChannel) -> None:
    posted = await voice.post(channel.chat(), HELLO, "1")
    assert voice.spoke_last(posted)

    voice.heard(channel.chat())
    assert not voice.spoke_last(posted)


async def test_it_is_not_if_somebody_wrote_before_its_send_was_acknowledged(voice: Voice, channel: LateChannel) -> None:
    acknowledged = channel.answers_late("Hello.")
    posting = asyncio.create_task(voice.post(channel.chat(), HELLO, "1"))
    await channel.until(lambda: bool(channel.screen))
    voice.heard(channel.chat())
    acknowledged.set()

    assert not voice.spoke_last(await posting)


@pytest.mark.parametrize(("error", "is_last"), [(ChannelError("slow down", retry_after=1.0), True), (LOST, False)])
async def test_it_stays_the_last_one_if_the_next_send_failed_for_certain(
    voice: Voice, channel: LateChannel, error: ChannelError, *, is_last: bool
) -> None:
    posted = await voice.post(channel.chat(), HELLO, "1")
    channel.fails("send", error)
    with pytest.raises(ChannelError):
        await voice.post(channel.chat(), OutboundMessage(markdown="How are you?"), "2")

    assert voice.spoke_last(posted) is is_last
