"""Settings for Slack. Imports no SDK, so that reading settings stays cheap.

The docstring of each field becomes its comment in `.env.example`, under the name SLACK_<FIELD>.
"""

import re
from collections.abc import Callable, Set
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator

SCOPES = {
    "app_mentions:read": "receive mentions in channels",
    "assistant:write": "suggest first questions in Slack's assistant pane",
    "channels:history": "receive messages in channels it is in, and read earlier ones before a mention",
    "channels:read": "know who has left a channel",
    "chat:write": "answer, edit progress messages, show that it is thinking",
    "commands": 'offer /parley, and "Ask Parley" in the menu of a message',
    "files:read": "read files that users send",
    "files:write": "send files",
    "groups:history": "receive messages in private channels it is in, and read earlier ones before a mention",
    "groups:read": "know who has left a private channel",
    "im:history": "receive direct messages, and read those sent during downtime",
    "im:write": "preview a report to one user",
    "mpim:history": "receive group direct messages, and read earlier ones before a mention",
    "reactions:write": "react with eyes to a message it is working on",
    "users:read": "look up users' names, languages, time zones and memberships",
}
"""Purpose by scope of the bot token."""
NEEDED = frozenset(("chat:write", "im:history"))
"""Scopes without which nothing works: it could neither hear its owner nor answer."""
EVENTS = (
    "app_mention",
    "app_uninstalled",
    "assistant_thread_started",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "tokens_revoked",
)
"""Events to which the app subscribes."""
CONNECTIONS = "connections:write"
"""Scope of the app-level token."""
APPS = "api.slack.com/apps"


def granted(header: str) -> frozenset[str]:
    """Parse the header X-OAuth-Scopes, which names the scopes of the token."""
    return frozenset(scope.strip() for scope in header.split(",") if scope.strip())


def missing(scopes: Set[str]) -> list[str]:
    """Return the scopes that are missing; empty if Slack did not report any scopes."""
    return sorted(SCOPES.keys() - scopes) if scopes else []


def _looks_like(pattern: str, what: str) -> Callable[[SecretStr | None], SecretStr | None]:
    """Return a validator for a secret that matches the pattern; `what` names it and says where to get it."""

    def check(secret: SecretStr | None) -> SecretStr | None:
        if secret is not None and not re.fullmatch(pattern, secret.get_secret_value()):
            raise ValueError(f"does not look like {what}")
        return secret

    return check


_bot_token = _looks_like(
    r"xoxb-[A-Za-z0-9-]{4,}",
    f"a bot token (xoxb-...); copy it from {APPS}, your app, OAuth & Permissions, Bot User OAuth Token",
)
_app_token = _looks_like(
    r"xapp-[A-Za-z0-9-]{4,}",
    f"an app-level token (xapp-...); make one at {APPS}, your app, Basic Information, App-Level Tokens, with the scope"
    " connections:write",
)
_signing_secret = _looks_like(
    r"(?!xox|xapp)[0-9A-Za-z-]{16,}",
    f"a signing secret (32 letters and digits); copy it from {APPS}, your app, Basic Information, App Credentials",
)


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
    agent_view: bool = False
    """true if your app has Slack's agent view: each direct message begins a conversation, answered in its thread."""
    base_url: str = "https://slack.com/api/"
    """Address of Slack's Web API."""

    @model_validator(mode="after")
    def _is_reachable(self) -> Self:
        if self.app_token is None and self.signing_secret is None:
            raise ValueError(
                "SLACK_APP_TOKEN is missing, and Parley needs it to receive events. Create one at"
                f" {APPS}, your app, Basic Information, App-Level Tokens, with the scope connections:write"
                " (or set SLACK_SIGNING_SECRET to receive events over HTTP)"
            )
        return self
