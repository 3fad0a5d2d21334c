"""Settings for Discord. Imports no SDK, so that reading settings stays cheap.

The docstring of each field becomes its comment in `.env.example`, under the name DISCORD_<FIELD>.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr

PORTAL = "https://discord.com/developers/applications"
TOKEN_PAGE = f"{PORTAL}, your application, Bot, Reset Token"
EVERYWHERE = "all"

_TOKEN = re.compile(r"[\w-]{10,}\.[\w-]{4,}\.[\w-]{20,}", re.ASCII)


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
