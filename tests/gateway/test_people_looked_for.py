"""The private chats of people who never wrote are looked for after a start."""

import asyncio

from channels.base import ChatKey
from tests.gateway.conftest import StartBot
from tests.gateway.remembering import RememberingChannel


async def test_people_who_never_wrote_are_looked_for_one_by_one(start_bot: StartBot) -> None:
    class Counting(RememberingChannel):
        at_once = most = found = 0

        async def private_chat(self, person: str) -> ChatKey:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            await asyncio.sleep(0.01)
            self.at_once, self.found = self.at_once - 1, self.found + 1
            return await super().private_chat(person)

    channel = Counting()
    await start_bot(channel=channel)

    await channel.until(lambda: channel.found == 3)

    assert channel.most == 1
