"""What Slack needs to be told; imports no SDK, so that settings may read it at no cost.

The docstring of a field is its comment in `.env.example`, where it is named SLACK_<FIELD>.
"""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

APPS = "api.slack.com/apps"
_BOT = re.compile(r"xoxb-[A-Za-z0-9-]{4,}")
_APP = re.compile(r"xapp-[A-Za-z0-9-]{4,}")
_SECRET = re.compile(r"(?!xox|xapp)[0-9A-Za-z-]{16,}")


def _bot_token(token: SecretStr) -> SecretStr:
    if not _BOT.fullmatch(token.get_secret_value()):
        raise ValueError(
            f"does not look like a bot token (xoxb-...); copy it from {APPS}, your app, OAuth & Permissions,"
            " Bot User OAuth Token"
        )
    return token


def _app_token(token: SecretStr | None) -> SecretStr | None:
    if token is not None and not _APP.fullmatch(token.get_secret_value()):
        raise ValueError(
            f"does not look like an app-level token (xapp-...); make one at {APPS}, your app, Basic Information,"
            " App-Level Tokens, with the scope connections:write"
        )
    return token


def _signing_secret(secret: SecretStr | None) -> SecretStr | None:
    if secret is not None and not _SECRET.fullmatch(secret.get_secret_value()):
        raise ValueError(
            f"does not look like a signing secret (32 letters and digits); copy it from {APPS}, your app, Basic"
            " Information, App Credentials"
        )
    return secret


def _or_none(value: object) -> object:
    """A line of `.env` without a value is no setting."""
    return None if value == "" else value


class Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: Annotated[SecretStr, AfterValidator(_bot_token)]
    """The Bot User OAuth Token of your app, under OAuth & Permissions; starts with xoxb-"""
    app_token: Annotated[SecretStr | None, BeforeValidator(_or_none), AfterValidator(_app_token)] = None
    """An app-level token with the scope connections:write, for Socket Mode; starts with xapp-"""
    signing_secret: Annotated[SecretStr | None, BeforeValidator(_or_none), AfterValidator(_signing_secret)] = None
    """Instead of an app-level token: the signing secret, for events by HTTP through a tunnel or proxy of your own."""
    port: Annotated[int, Field(ge=0, le=65535)] = 3000
    """Where Parley listens on this machine for Slack's events by HTTP, at /slack/events."""
    base_url: str = "https://slack.com/api/"
    """Where Slack's Web API answers."""

    @model_validator(mode="after")
    def _is_reachable(self) -> Self:
        if self.app_token is None and self.signing_secret is None:
            raise ValueError(
                "SLACK_APP_TOKEN is missing: without it Slack's events do not come. Make one at"
                f" {APPS}, your app, Basic Information, App-Level Tokens, with the scope connections:write"
                " (or set SLACK_SIGNING_SECRET to take events by HTTP)"
            )
        return self
