"""The real Slack SDK, unmodified, connected to the emulator."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from parley.testing.emulators.slack_server import SlackServer


def slack_client(slack: SlackServer) -> AsyncWebClient:
    """Create a client; it opens a session for each call, so there is nothing to close."""
    return AsyncWebClient(slack.bot_token, base_url=slack.api_url)


def slack_app(slack: SlackServer) -> AsyncApp:
    return AsyncApp(client=slack_client(slack), signing_secret=slack.signing_secret)


@asynccontextmanager
async def connected(slack: SlackServer, app: AsyncApp, *, ping: float = 5.0) -> AsyncIterator[AsyncSocketModeHandler]:
    """Yield the app in Socket Mode; it reconnects within about `ping` seconds."""
    handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=ping)
    await handler.connect_async()
    try:
        yield handler
    finally:
        await handler.close_async()
