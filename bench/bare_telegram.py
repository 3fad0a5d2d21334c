"""The bare bot on Telegram, with the same SDK and HTTP client as Parley. It stores and checks nothing.

It polls, shows typing, asks the model and answers.
"""

import asyncio
import os
from contextlib import suppress

import aiohttp
from telegram import Bot, Message

from bench.bare import model_session, reply
from channels.telegram.client import AiohttpRequest


async def answer(bot: Bot, http: aiohttp.ClientSession, message: Message) -> None:
    typing = asyncio.create_task(bot.send_chat_action(message.chat_id, "typing"))
    await bot.send_message(message.chat_id, await reply(http, message.text or ""))
    await typing


async def main() -> None:
    base = os.environ["TELEGRAM_BASE_URL"]
    requests = AiohttpRequest(), AiohttpRequest(connections=2)
    bot = Bot(
        os.environ["TELEGRAM_BOT_TOKEN"], base_url=f"{base}/bot", request=requests[0], get_updates_request=requests[1]
    )
    tasks: set[asyncio.Task[None]] = set()
    offset = 0
    async with model_session() as http:
        while True:
            for update in await bot.get_updates(offset=offset, timeout=30):
                offset = update.update_id + 1
                if update.message is not None:
                    task = asyncio.create_task(answer(bot, http, update.message))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
