"""The bare bot on Telegram: python-telegram-bot over the HTTP client of Parley. It stores and checks nothing.

It polls, shows typing, asks the model and answers.
"""

import asyncio
import json
import os
from contextlib import suppress

import aiohttp
from telegram import Bot, Message
from telegram.request import BaseRequest, RequestData

from bench.bare import model_session, reply


class AiohttpRequest(BaseRequest):
    """Makes calls without files over aiohttp."""

    def __init__(self) -> None:
        self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())

    @property
    def read_timeout(self) -> float | None:
        return None

    async def initialize(self) -> None:
        """Do nothing; the session is open."""

    async def shutdown(self) -> None:
        await self._session.close()

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *_: object, **__: object
    ) -> tuple[int, bytes]:
        body = json.dumps(request_data.parameters if request_data else {}).encode()
        headers = {"Content-Type": "application/json"}
        async with self._session.request(method, url, data=body, headers=headers) as response:
            return response.status, await response.read()


async def answer(bot: Bot, http: aiohttp.ClientSession, message: Message) -> None:
    typing = asyncio.create_task(bot.send_chat_action(message.chat_id, "typing"))
    await bot.send_message(message.chat_id, await reply(http, message.text or ""))
    await typing


async def main() -> None:
    base = os.environ["TELEGRAM_BASE_URL"]
    requests = AiohttpRequest(), AiohttpRequest()
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
