"""Settings for Discord. Imports no SDK, so that reading settings stays cheap.

The docstring of each field becomes its comment in `.env.example`, under the name DISCORD_<FIELD>.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr

INTENTS = {
    "guilds": "which channels and threads a server has, and which thread belongs to which channel",
    "guild_messages": "messages in servers",
    "dm_messages": "direct messages to the bot",
    "guild_reactions": "a 👍 or 👎 on its answers in servers",
    "dm_reactions": "the same in direct messages",
    "message_content": "the text of messages in servers that do not mention the bot (privileged: turned on by hand)",
}
"""Purpose by name in discord.py."""
PERMISSIONS = {
    "View Channels": (1 << 10, "see the messages of a channel"),
    "Send Messages": (1 << 11, "answer"),
    "Create Public Threads": (1 << 35, "start a thread for each conversation, in DISCORD_THREAD_CHANNELS"),
    "Send Messages in Threads": (1 << 38, "answer in threads"),
    "Attach Files": (1 << 15, "send files"),
    "Read Message History": (
        1 << 16,
        "reply to messages, and read those from before a mention or during downtime",
    ),
}
"""Name in Discord's settings -> permission bit and purpose."""
INVITE_PERMISSIONS = sum(bit for bit, _ in PERMISSIONS.values())
MESSAGE_CONTENT_FLAGS = (1 << 18) | (1 << 19)
"""Application flags of the Message Content Intent, for bots in many or in few servers."""
PORTAL = "https://discord.com/developers/applications"
TOKEN_PAGE = f"{PORTAL}, your application, Bot, Reset Token"
EVERYWHERE = "all"
_TOKEN = re.compile(r"[\w-]{10,}\.[\w-]{4,}\.[\w-]{20,}", re.ASCII)


def invite_url(application: str) -> str:
    """Return the address at which the owner of a server adds the bot, with these permissions and slash commands."""
    scopes = "bot+applications.commands"
    return (
        "https://discord.com/oauth2/authorize"
        f"?client_id={application}&permissions={INVITE_PERMISSIONS}&integration_type=0&scope={scopes}"
    )


def _token(token: SecretStr) -> SecretStr:
    if not _TOKEN.fullmatch(token.get_secret_value()):
        raise ValueError(f"does not look like a bot token (three parts with dots between); copy it again: {TOKEN_PAGE}")
    return token


def _channels(listed: str) -> str:
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if names != [EVERYWHERE] and not all(name.isascii() and name.isdigit() for name in names):
        raise ValueError(
            'must be "all" or a comma list of channel ids; Discord shows them by Copy Channel ID when Developer Mode is'
            " on (User Settings, Advanced)"
        )
    return ",".join(names)


class Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: Annotated[SecretStr, AfterValidator(_token)]
    """The bot's token: discord.com/developers/applications, your application, Bot, Reset Token."""
    thread_channels: Annotated[str, AfterValidator(_channels)] = ""
    """Channels in which each conversation gets a thread of its own: a comma-separated list of ids, or all. Empty:
    none."""
    base_url: str = "https://discord.com/api/v10"
    """Address of Discord's API; another one only for tests."""

    def has_threads(self, channel: str) -> bool:
        """Return True if each conversation in this channel gets a thread of its own."""
        return self.thread_channels == EVERYWHERE or channel in self.thread_channels.split(",")
