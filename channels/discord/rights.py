"""Intents and permissions that Parley needs, each with its purpose."""

INTENTS = {
    "guilds": "which channels and threads a server has, and which thread belongs to which channel",
    "guild_messages": "messages in servers",
    "dm_messages": "messages to the bot alone",
    "message_content": "the words of messages in servers that do not name the bot (privileged: switched on by hand)",
}
"""Purpose by name in discord.py."""

PERMISSIONS = {
    "View Channels": (1 << 10, "see the messages of a channel"),
    "Send Messages": (1 << 11, "answer"),
    "Create Public Threads": (1 << 35, "give a conversation a thread of its own, in DISCORD_THREAD_CHANNELS"),
    "Send Messages in Threads": (1 << 38, "answer in threads"),
    "Attach Files": (1 << 15, "send files"),
    "Read Message History": (
        1 << 16,
        "reply to messages, and read what was said before it was named or while it was away",
    ),
}
"""Name in Discord's settings -> permission bit and purpose."""

INVITE_PERMISSIONS = sum(bit for bit, _ in PERMISSIONS.values())

MESSAGE_CONTENT_FLAGS = (1 << 18) | (1 << 19)
"""Application flags of the Message Content Intent, for bots in many or in few servers."""


def invite_url(application: str) -> str:
    """Return the address at which the owner of a server adds the bot, with these permissions and slash commands."""
    scopes = "bot+applications.commands"
    return (
        "https://discord.com/oauth2/authorize"
        f"?client_id={application}&permissions={INVITE_PERMISSIONS}&integration_type=0&scope={scopes}"
    )
