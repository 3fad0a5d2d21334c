"""What the app must be allowed and told, and why: the manifest in docs/platforms has this and nothing else."""

SCOPES = {
    "app_mentions:read": "hear a mention in a channel",
    "assistant:write": "suggest first questions in Slack's assistant pane",
    "channels:history": "hear what is said in channels that it is in, and read what was said before a mention",
    "chat:write": "answer, edit its progress, show that it is thinking",
    "commands": '/parley, and "Ask Parley" in the menu of a message',
    "files:read": "look at files that people send",
    "files:write": "send files",
    "groups:history": "the same in private channels",
    "im:history": "hear direct messages",
    "mpim:history": "the same in messages to several people",
    "reactions:write": "put eyes on a message that is being worked on",
    "users:read": "know people by name and in their language",
}
"""Scope of the bot token -> what for."""

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
"""What the app subscribes to."""

CONNECTIONS = "connections:write"
"""The scope of the app-level token."""
