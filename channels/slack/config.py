"""Settings for Slack. Imports no SDK, so that reading settings stays cheap.

The docstring of each field becomes its comment in `.env.example`, under the name SLACK_<FIELD>.
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
    """Treat an empty value in `.env` as unset."""
    return None if value == "" else value


class Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: Annotated[SecretStr, AfterValidator(_bot_token)]
    """The Bot User OAuth Token of your app, under OAuth & Permissions; starts with xoxb-"""
    app_token: Annotated[SecretStr | None, BeforeValidator(_or_none), AfterValidator(_app_token)] = None
    """An app-level token with the scope connections:write, for Socket Mode; starts with xapp-"""
    signing_secret: Annotated[SecretStr | None, BeforeValidator(_or_none), AfterValidator(_signing_secret)] = None
    """Instead of an app-level token: the signing secret, for events over HTTP through your own tunnel or proxy."""
    port: Annotated[int, Field(ge=0, le=65535)] = 3000
    """Port on this machine for Slack's events over HTTP, at /slack/events."""
    base_url: str = "https://slack.com/api/"
    """Address of Slack's Web API."""

    @model_validator(mode="after")
    def _is_reachable(self) -> Self:
        if self.app_token is None and self.signing_secret is None:
            raise ValueError(
                "SLACK_APP_TOKEN is missing: without it Slack's events do not come. Make one at"
                f" {APPS}, your app, Basic Information, App-Level Tokens, with the scope connections:write"
                " (or set SLACK_SIGNING_SECRET to take events by HTTP)"
            )
        return self
