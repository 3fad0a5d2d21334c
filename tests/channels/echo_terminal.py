"""A program with a terminal channel and an echo behind it, for tests that sit at a real terminal.

`slow` begins a progress that only a stop ends; anything else is said back, after a progress of two steps.
"""

import asyncio

from channels.base import Accepted, Button, CommandInvoked, CommandSpec, InboundEvent, MessageReceived, OutboundMessage
from channels.terminal.adapter import TerminalChannel

STOP = ((Button(label="Stop", action="/stop"),),)
COMMANDS = (CommandSpec(name="stop", description={"en": "stop"}),)


async def main() -> None:
    async def idle() -> None:
        """Nothing runs behind the inbox."""

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

    await channel.run(inbox, COMMANDS)
    print("left")  # noqa: T201 - what the test waits for


if __name__ == "__main__":
    asyncio.run(main())
