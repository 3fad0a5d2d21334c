"""Scopes and events that the app needs, each with its purpose.

The manifest in docs/platforms contains exactly these.
"""

from collections.abc import Set

SCOPES = {
    "app_mentions:read": "hear a mention in a channel",
    "assistant:write": "suggest first questions in Slack's assistant pane",
    "channels:history": "hear what is said in channels that it is in, and read what was said before a mention",
    "chat:write": "answer, edit its progress, show that it is thinking",
    "commands": 'offer /parley, and "Ask Parley" in the menu of a message',
    "files:read": "look at files that people send",
    "files:write": "send files",
    "groups:history": "hear and read the same in private channels",
    "im:history": "hear direct messages, and read those that came while it was away",
    "im:write": "show a person alone what a report would say",
    "mpim:history": "hear and read the same in messages to several people",
    "reactions:write": "put eyes on a message that is being worked on",
    "users:read": "know people by name and in their language",
}
"""Purpose by scope of the bot token."""

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


def granted(header: str) -> frozenset[str]:
    """Parse the header X-OAuth-Scopes, which names the scopes of the token."""
    return frozenset(scope.strip() for scope in header.split(",") if scope.strip())


def missing(scopes: Set[str]) -> list[str]:
    """Return the scopes that are missing; empty if Slack did not report any scopes."""
    return sorted(SCOPES.keys() - scopes) if scopes else []
