"""The bare bot on Discord: discord.py's client, which shows typing, asks the model and sends its answer.

It stores and checks nothing.
"""

import asyncio
import os
from contextlib import suppress

import aiohttp
import discord
import yarl

from bench.bare import model_session, reply


class BareClient(discord.Client):
    def __init__(self, http: aiohttp.ClientSession) -> None:
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none())
        self._model = http

    async def on_message(self, message: discord.Message) -> None:
        if message.author.bot:
            return
        async with message.channel.typing():
            text = await reply(self._model, message.content)
        await message.channel.send(text)


async def main() -> None:
    discord.http.Route.BASE = os.environ["DISCORD_BASE_URL"]
    token = os.environ["DISCORD_BOT_TOKEN"]
    async with model_session() as http:
        headers = {"Authorization": f"Bot {token}"}
        async with http.get(f"{discord.http.Route.BASE}/gateway", headers=headers) as response:
            discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL((await response.json())["url"])
        async with BareClient(http) as client:
            await client.start(token)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
