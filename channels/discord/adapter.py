"""The Discord channel: a bot in servers, threads and private chats, through discord.py's gateway and REST client."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from datetime import timedelta

from pydantic import JsonValue

from channels.attachments import Attachment
from channels.backoff import until_answered
from channels.base import (
    ChannelError,
    ChatKey,
    CommandInvoked,
    Inbox,
    Menu,
    MessageReceived,
    OutboundMessage,
    Posted,
)
from channels.capabilities import Emoji, Gap
from channels.discord.attachments import download
from channels.discord.cache import LARGEST_LIMIT, RecentMessages, Servers
from channels.discord.client import Call, Endpoint, Rest
from channels.discord.config import Config
from channels.discord.connection import SILENCE, try_gateway
from channels.discord.errors import UNKNOWN_EMOJI, Refused
from channels.discord.history import find_sent, read_history, read_since
from channels.discord.inbound import Inbound
from channels.discord.interactions import Interactions
from channels.discord.layout import split
from channels.discord.lookups import Lookups
from channels.discord.menu import publish_commands
from channels.discord.normalise import DIRECT, Identity, View
from channels.discord.posting import Posting, Threads
from channels.discord.render import MAX_TEXT
from channels.discord.shards import Shards
from channels.limits import Limits
from channels.sharing import Sharing, Unshared
from channels.tasks import BackgroundTasks, until_one_ends
from channels.values import Known

log = logging.getLogger(__name__)

SETTLE_SECONDS = 1.0
"""Longest time for what came last to be stored and acknowledged at the end."""


def open_channel(config: Config, now: Callable[[], float] = time.time) -> "DiscordChannel":
    """Create the channel without connecting."""
    return DiscordChannel(config, now=now)


class DiscordChannel:
    """One Discord bot. Also implements typing indicators, reactions, downloads, deletion and history."""

    name = "discord"
    limits = Limits(
        id_form=r"\d{1,20}",
        max_text=MAX_TEXT,
        # Discord allows five calls of a kind in five seconds; at the sixth the SDK would wait, and the answer with it.
        edit_every=timedelta(seconds=1.25),
        edit_every_in_groups=timedelta(seconds=1.25),
        burst=3,
        threads_share_pace=False,
        calls_per_second=45,
        edits_wait_alone=True,  # Discord limits each kind of call by itself
        max_upload=LARGEST_LIMIT,
        one_receiver=True,
        captions=True,
        voice_messages=True,
        words_after=timedelta(seconds=0.25),
        typing_every=timedelta(seconds=8),
    )

    def __init__(self, config: Config, silence: float = SILENCE, now: Callable[[], float] = time.time) -> None:
        """`silence` is the time in seconds after which a silent connection counts as dead."""
        self._config = config
        self._now = now
        self._servers = Servers()
        self._recent = RecentMessages()
        self._rest = Rest(config, self._dispatch)
        self._shards = Shards(self._rest, silence)
        self.reach = self._rest.reach
        self._interactions = Interactions(self._rest, now)
        self._lookups = Lookups(self._rest, self._servers, self._shards.tells)
        threads = Threads(self._rest, self._servers, self._recent, config)
        self._posting = Posting(self._rest, threads, self._lookups, self._interactions)
        self._inbound: Inbound | None = None

    @property
    def is_connected(self) -> bool:
        """See `KnowsConnection.is_connected`."""
        return self._shards.is_connected

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        """See `Channel.run`."""
        await self.run_shared(inbox, menu, Unshared())

    async def run_shared(self, inbox: Inbox, menu: Menu, sharing: Sharing) -> None:
        """See `Shares.run_shared`. Discord delivers each event once, so events that `inbox` cannot store yet are kept
        in memory."""
        me = await until_answered("Discord", self._rest.me)
        log.info("discord bot=@%s id=%s", me.username, me.id)
        view = View(me, self._servers, self._config, menu)
        self._inbound = Inbound(self._rest, view, self._recent, self._interactions, self._lookups, inbox, now=self._now)
        publishing = BackgroundTasks()

        def begins(shard: int) -> None:
            if shard == 0 and menu.commands:  # one process does it
                publishing.start(publish_commands(self._rest, menu.commands))

        try:
            await until_one_ends(self._shards.run(sharing, begins), self._rest.revoked())
        finally:
            await publishing.close()
            inbound, self._inbound = self._inbound, None
            with suppress(TimeoutError):  # presses are in no history
                async with asyncio.timeout(SETTLE_SECONDS):
                    await inbound.settled()
                    await self._interactions.settled()
            await self._interactions.close()
            await inbound.close()

    def _view(self, me: Identity) -> View:
        """Return the view for reading history, in which slash commands do not appear."""
        return View(me, self._servers, self._config, Menu())

    def _dispatch(self, event: str, raw: JsonValue) -> None:
        self._servers.update(event, raw)
        if self._inbound is not None:
            self._inbound.dispatch(event, raw)

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Send all parts that `split` returns, and return the first."""
        parts = split(message)
        posted = [
            await self._posting.send(chat, part, key if not number else f"{key}:{number}")
            for number, part in enumerate(parts)
        ]
        return posted[0]

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        """See `Channel.edit`."""
        await self._posting.edit(posted, message)

    async def find_sent(self, chat: ChatKey, message: OutboundMessage, key: str, known: Known) -> Posted | None:
        """See `FindsSent.find_sent`; needed once Discord has forgotten the nonce, which it does after minutes."""
        if message.respond is not None:
            raise ChannelError("Discord keeps no record of replies to commands", permanent=True)
        return await find_sent(self._rest, self._view(await self._rest.me()), chat, message, known)

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """See `Channel.split`."""
        return split(message)

    def is_group(self, chat: ChatKey) -> bool:
        """Return True for everything but private chats."""
        return chat.account != DIRECT

    async def typing(self, chat: ChatKey) -> bool:
        """Show the typing indicator, for 10 s or until the bot's next message."""
        return await self._posting.typing(chat)

    async def react(self, chat: ChatKey, message_id: str, emoji: Emoji | None, *, instead_of: Set[Emoji]) -> bool:
        """See `Reacts`."""
        return await react(self._rest, chat, message_id, emoji, instead_of)

    async def download(self, attachment: Attachment) -> bytes:
        """Download a file of at most 25 MiB."""
        return await download(self._rest, attachment)

    async def delete(self, posted: Posted) -> None:
        """See `Deletes`. Raises MessageGone if the message is already deleted."""
        await self._posting.delete(posted)

    async def close_command(self, chat: ChatKey, respond: str) -> None:
        """See `ClosesCommands.close_command`. Removes the "is thinking" placeholder."""
        await self._interactions.close_command(respond)

    async def history(
        self, chat: ChatKey, *, after: str | None = None, before: str | None = None, most: int = 20
    ) -> Sequence[MessageReceived | CommandInvoked]:
        """See `ReadsHistory.history`."""
        view = self._view(await self._rest.me())
        return await read_history(self._rest, view, chat, after=after, before=before, most=most)

    async def messages_since(self, chat: ChatKey, since: float) -> Sequence[MessageReceived | CommandInvoked]:
        """See `CatchesUp.messages_since`."""
        return await read_since(self._rest, self._view(await self._rest.me()), chat, since)

    def link(self, chat: ChatKey, message_id: str) -> str | None:
        """See `LinksToMessages`. A thread is a channel of its own."""
        return f"https://discord.com/channels/{chat.account}/{chat.thread or chat.chat}/{message_id}"

    async def roles(self, chat: ChatKey) -> dict[str, str]:
        """See `HasRoles.roles`."""
        return await self._lookups.roles(chat.account)

    async def is_member(self, chat: ChatKey, person: str) -> bool:
        """See `KnowsMembers`: who is on a server."""
        return await self._lookups.is_member(chat.account, person)

    async def private_chat(self, person: str) -> ChatKey:
        """See `FindsPrivateChats.private_chat`. Discord lists no private chats to bots, but "creating" one returns the
        existing one."""
        return await self._lookups.private_chat(person)

    async def try_reach(self) -> None:
        """See `KnowsReach.try_reach`."""
        await try_gateway(self._rest)

    def receives(self, chat: ChatKey) -> bool:
        """See `Shares.receives`."""
        return self._shards.receive(chat.account)

    async def gap(self) -> Gap:
        """See `CatchesUp.gap`."""
        return await self._shards.gap()

    async def close(self) -> None:
        """See `Channel.close`."""
        await self._rest.close()


async def react(rest: Rest, chat: ChatKey, message_id: str, emoji: Emoji | None, instead_of: Set[Emoji]) -> bool:
    """Do as `Reacts.react` says. Discord allows the bot several reactions, so the old one is removed first."""
    for old in sorted(instead_of):
        try:
            if not await rest.offer(_call("DELETE", chat, message_id, old)):
                return False
        except Refused as error:
            if error.code != UNKNOWN_EMOJI:  # there is none to remove
                raise
    return emoji is None or await rest.offer(_call("PUT", chat, message_id, emoji))


def _call(method: str, chat: ChatKey, message_id: str, emoji: Emoji) -> Call:
    # The first message of a thread has the thread's id, and is outside of it.
    channel = chat.thread if chat.thread and chat.thread != message_id else chat.chat
    path = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"
    ids = {"channel_id": channel, "message_id": message_id, "emoji": emoji}
    return Call(Endpoint(method, path, ids), needs="Add Reactions, Read Message History" if method == "PUT" else "")
