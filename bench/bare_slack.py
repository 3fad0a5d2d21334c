"""The bare bot on Slack: Bolt in Socket Mode with one listener, which asks the model and sends its answer.

It stores and checks nothing, and shows nothing before the answer.
"""

import asyncio
import os
from contextlib import suppress

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bench.bare import model_session, reply


async def main() -> None:
    client = AsyncWebClient(os.environ["SLACK_BOT_TOKEN"], base_url=os.environ["SLACK_BASE_URL"])
    app = AsyncApp(client=client)
    async with model_session() as http:

        @app.event("message")
        async def on_message(event: dict[str, str]) -> None:
            text = await reply(http, event["text"])
            await client.chat_postMessage(channel=event["channel"], thread_ts=event.get("thread_ts"), text=text)

        @app.event("assistant_thread_started")
        async def on_opened() -> None:
            """Acknowledge it; what nobody listens to is delivered again."""

        await AsyncSocketModeHandler(app, os.environ["SLACK_APP_TOKEN"]).start_async()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
