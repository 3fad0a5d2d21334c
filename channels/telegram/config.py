"""Settings for Telegram. Imports no SDK, so that reading settings stays cheap.

The docstring of each field becomes its comment in `.env.example`, under the name TELEGRAM_<FIELD>.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr


def _token(token: SecretStr) -> SecretStr:
    number, colon, secret = token.get_secret_value().partition(":")
    if not (number.isascii() and number.isdigit() and colon and secret) or any(char.isspace() for char in secret):
        raise ValueError("does not look like a bot token (1234567890:AbC...); copy it again from @BotFather")
    return token


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

    @property
    def bot_id(self) -> str:
        """The bot's permanent id: the number before the colon of the token."""
        return self.bot_token.get_secret_value().partition(":")[0]
