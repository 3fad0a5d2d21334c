"""A program with a terminal channel and an echo, for tests with a real terminal.

`slow` starts progress that ends only when stopped; other text is echoed after progress in two steps.
"""

import asyncio

from channels.base import Accepted, Button, CommandInvoked, InboundEvent, Menu, MessageReceived, OutboundMessage
from channels.commands import CommandSpec
from channels.terminal.adapter import TerminalChannel

STOP = ((Button(label="Stop", action="/stop"),),)
COMMANDS = (CommandSpec(name="stop", description={"en": "stop"}),)


async def main() -> None:
    async def idle() -> None:
        """Return at once, as nothing runs behind the inbox."""

    channel = TerminalChannel(idle=idle)

    async def inbox(event: InboundEvent) -> Accepted:
        if isinstance(event, MessageReceived):
            posted = await channel.send(
                event.chat, OutboundMessage(markdown="… step one", buttons=STOP), event.event_id
            )
            if event.text != "slow":
                await channel.edit(posted, OutboundMessage(markdown="… step two", buttons=STOP))
                await channel.edit(posted, OutboundMessage(markdown=f"You said: \x1b]0;owned\x07{event.text}"))
        elif isinstance(event, CommandInvoked):
            await channel.send(event.chat, OutboundMessage(markdown=f"Command: {event.name}"), event.event_id)
        return Accepted.NEW

    await channel.run(inbox, Menu(COMMANDS))
    print("left")  # noqa: T201 - awaited by the test


if __name__ == "__main__":
    asyncio.run(main())
