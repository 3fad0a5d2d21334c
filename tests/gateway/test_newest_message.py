"""A message of ours counts as the last one in a chat only if nothing can stand below it."""

import asyncio

import pytest

from channels.base import ChannelError, OutboundMessage
from channels.memory import LOST
from gateway.security.masked_channel import MaskedChannel
from gateway.security.secrets import Secrets
from tests.gateway.answering_late import LateChannel

HELLO = OutboundMessage(markdown="Hello.")


@pytest.fixture
def channel() -> LateChannel:
    return LateChannel()


@pytest.fixture
def masked(channel: LateChannel) -> MaskedChannel:
    return MaskedChannel(channel, Secrets())


async def test_the_message_sent_last_is_the_last_one_until_somebody_writes(
    masked: MaskedChannel,
    channel: LateChannel,
) -> None:
    posted = await masked.post(channel.chat(), HELLO, "1")
    assert masked.is_newest(posted)

    masked.other_wrote(channel.chat())
    assert not masked.is_newest(posted)


async def test_it_is_not_if_somebody_wrote_before_its_send_was_acknowledged(
    masked: MaskedChannel,
    channel: LateChannel,
) -> None:
    acknowledged = channel.answers_late("Hello.")
    posting = asyncio.create_task(masked.post(channel.chat(), HELLO, "1"))
    await channel.until(lambda: bool(channel.screen))
    masked.other_wrote(channel.chat())
    acknowledged.set()

    assert not masked.is_newest(await posting)


@pytest.mark.parametrize(("error", "is_last"), [(ChannelError("slow down", retry_after=1.0), True), (LOST, False)])
async def test_it_stays_the_last_one_if_the_next_send_failed_for_certain(
    masked: MaskedChannel, channel: LateChannel, error: ChannelError, *, is_last: bool
) -> None:
    posted = await masked.post(channel.chat(), HELLO, "1")
    channel.fails("send", error)
    with pytest.raises(ChannelError):
        await masked.post(channel.chat(), OutboundMessage(markdown="How are you?"), "2")

    assert masked.is_newest(posted) is is_last
