"""Settings for Matrix."""

from pydantic import BaseModel, ConfigDict, SecretStr


class Config(BaseModel):
    """The account of the bot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    access_token: SecretStr
    """The access token of the bot's account."""
    server: str
    """The address of its server, such as https://matrix.example.org"""
