"""A channel knows of the messages that are answered here and came in elsewhere, for the typing indicator."""

from channels.base import InboundEvent
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel


class NotingChannel(RememberingChannel):
    """Keeps the ids of the events of which it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def noted(self, event: InboundEvent) -> None:
        self.told.append(event.event_id)


async def test_it_is_told_of_those_only_that_did_not_come_in_there(start_bot: StartBot) -> None:
    channel = NotingChannel()
    bot = await start_bot("Yes.", "Yes.", channel=channel)
    await channel.brings(channel.writes("hello"))
    await bot.app.settled()

    missed = channel.writes("are you there?")
    channel.reconnect()
    await channel.until(lambda: bot.screen == ["Yes.", "Yes."])

    assert channel.told == [missed.event_id]
