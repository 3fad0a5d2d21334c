"""Settings for Telegram. Imports no SDK, so that reading settings stays cheap.

The docstring of each field becomes its comment in `.env.example`, under the name TELEGRAM_<FIELD>.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr


def _token(token: SecretStr) -> SecretStr:
    number, colon, secret = token.get_secret_value().partition(":")
    if not (number.isascii() and number.isdigit() and colon and secret) or any(char.isspace() for char in secret):
        raise ValueError("does not look like a bot token (1234567890:AbC...); copy it again from @BotFather")
    return token


def _listed(ids: object) -> object:
    if not isinstance(ids, str):
        return ids
    listed = tuple(part.strip() for part in ids.split(",") if part.strip())
    if odd := next((each for each in listed if not each.removeprefix("-").isdecimal()), None):
        raise ValueError(f"{odd!r} is no id of a chat, such as 123456789 or -1001234567890")
    return listed


class Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: Annotated[SecretStr, AfterValidator(_token)]
    """The token that @BotFather gives after /newbot, such as 1234567890:AbC..."""
    base_url: str = "https://api.telegram.org"
    """Address of the Bot API; another one only for a Bot API server of your own."""
    poll_seconds: Annotated[int, Field(ge=1, le=50)] = 30
    """Seconds for which Telegram holds a request for new messages open, at most 50."""
    calls_per_second: Annotated[int, Field(ge=1, le=1000)] = 30
    """Messages per second that Telegram allows over all chats: 30, or up to 1000 with paid broadcasts."""

    rich_chats: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    """Ids of chats in which answers with tables are rich messages, as a comma list; older apps do not show these."""

    @property
    def bot_id(self) -> str:
        """The bot's permanent id: the number before the colon of the token."""
        return self.bot_token.get_secret_value().partition(":")[0]
