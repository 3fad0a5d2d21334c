"""The Slack channel: one app in one workspace, which listens through Socket Mode or signed HTTP."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence, Set
from datetime import timedelta
from functools import partial
from typing import TypeVar

from pydantic import JsonValue
from slack_bolt.app.async_app import AsyncApp

from channels.attachments import Attachment
from channels.backoff import replacement_call, until_answered
from channels.base import (
    ChannelError,
    ChatKey,
    CommandInvoked,
    InboundEvent,
    Inbox,
    Menu,
    MessageGone,
    MessageReceived,
    OutboundMessage,
    Posted,
)
from channels.capabilities import Emoji, Gap
from channels.joined_files import joined_files
from channels.limits import Limits
from channels.posted import as_one
from channels.slack import render
from channels.slack.attachments import MAX_UPLOAD, Attachments, fit_together
from channels.slack.client import Client, sdk_log
from channels.slack.config import APPS, SCOPES, Config, missing
from channels.slack.connection import Sockets
from channels.slack.errors import BadBlocks, Nothing
from channels.slack.history import History
from channels.slack.inbound import Inbound
from channels.slack.languages import Languages
from channels.slack.members import is_member
from channels.slack.mentions import Identity
from channels.slack.normalise import is_direct
from channels.slack.open_streams import OpenStreams
from channels.slack.stream import SlackStream
from channels.slack.typing_indicator import TypingIndicator
from channels.slack.users import Users
from channels.slack.webhooks import Webhooks
from channels.tasks import until_one_ends
from channels.text import visible
from channels.values import Known

log = logging.getLogger(__name__)
T = TypeVar("T")

REACTIONS: dict[Emoji, str] = {"👀": "eyes", "⚡": "zap", "😴": "sleeping", "👌": "ok_hand"}
"""Slack's names of the reactions."""
_NOT_EDITABLE = ("ephemeral:", "file:")
_QUIET: render.Json = {"unfurl_links": False, "unfurl_media": False}
"""No link previews: Slack fetches the address for them, and an address may leak what the answer contains."""


def open_channel(config: Config, now: Callable[[], float] = time.time) -> "SlackChannel":
    """Create the channel without connecting."""
    return SlackChannel(config, now)


class SlackChannel:
    """One Slack app. Also implements typing indicators, reactions, downloads, deletion, history, `FindsSent` and
    `Streams`."""

    name = "slack"

    def __init__(self, config: Config, now: Callable[[], float] = time.time) -> None:
        self.limits = Limits(
            ids_per_workspace=True,
            id_form=r"[UW][A-Z0-9]{2,30}",
            max_text=render.MAX_TEXT,
            edit_every=timedelta(seconds=1.2),
            edit_every_in_groups=timedelta(seconds=1.2),
            burst=3,
            slash="!",  # also works in threads, where Slack has no slash commands
            edits_per_minute=50,
            streams_per_minute=20,
            appends_per_minute=100,
            max_upload=MAX_UPLOAD,
            tells_full_members=True,
            shows_calls=True,
            rates_answers=True,
            words_after=timedelta(seconds=0.1),
            typing_every=timedelta(seconds=60),  # Slack clears a status after two minutes
        )
        self._config = config
        self._now = now
        self._client = Client(config)
        self.reach = self._client.reach
        self._users = Users(self._client)
        self._typing = TypingIndicator(self._client, has_sessions=config.agent_view)
        self._languages = Languages()
        self._streams = OpenStreams(self._client, self._users, self._typing.begun)
        self._history = History(self._client, self._users)
        self._attachments = Attachments(self._client, self._history, now)
        self._me: Identity | None = None
        self._workspace_url = ""
        self._commands: frozenset[str] = frozenset()
        self._listener: asyncio.Future[Sockets | Webhooks] | None = None

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        """See `Channel.run`."""
        self._commands = frozenset(command.name for command in menu.commands)
        me = await until_answered("Slack", self._identity)
        inbound = Inbound(
            self._client, me, self._users, inbox, noted=self.noted, commands=self._commands, now=self._now
        )
        self._streams.on_stopped = inbound.stopped
        listener = self._listen(inbound)
        self._listening().set_result(listener)
        try:
            await until_one_ends(listener.run(), self._client.refused())
        finally:
            self._streams.on_stopped = None
            await inbound.close()
            self._listener = None

    @property
    def is_connected(self) -> bool:
        """See `KnowsConnection.is_connected`."""
        listener = self._listener
        return listener is not None and listener.done() and listener.result().is_connected

    async def try_reach(self) -> None:
        """See `KnowsReach.try_reach`."""
        await self._client.try_reach()

    async def gap(self) -> Gap:
        """See `CatchesUp.gap`."""
        listener = await asyncio.shield(self._listening())
        await listener.gap()
        return Gap()

    def _listening(self) -> "asyncio.Future[Sockets | Webhooks]":
        if self._listener is None:
            self._listener = asyncio.get_running_loop().create_future()
        return self._listener

    def _listen(self, inbound: Inbound) -> Sockets | Webhooks:
        """Create the listener: Socket Mode, or HTTP if there is only a signing secret."""
        secret = self._config.signing_secret.get_secret_value() if self._config.signing_secret else ""
        app = AsyncApp(
            logger=sdk_log,
            name="parley",
            process_before_response=True,
            client=self._client.web,
            before_authorize=inbound,
            signing_secret=secret,
            ignoring_self_events_enabled=False,  # `Inbound` decides which of them matter
            attaching_function_token_enabled=False,
            attaching_conversation_kwargs_enabled=False,
        )
        if self._config.app_token is None:
            return Webhooks(app, secret, self._config.port)

        def greeted(app_id: str) -> None:
            inbound.app_id = app_id

        return Sockets(self._client, app, greeted)

    async def _identity(self) -> Identity:
        """Return the bot's identity, asking Slack only once."""
        if self._me is None:
            about = await self._client.call("auth.test", {})
            team, user, bot = (str(about.get(name) or "") for name in ("team_id", "user_id", "bot_id"))
            log.info("slack bot=%s user=%s team=%s workspace=%s", about.get("user"), user, team, about.get("team"))
            for scope in missing(self._client.scopes):  # without a scope Slack silently sends no events
                log.warning(
                    "the app lacks the scope %s, to %s; add it at %s, your app, OAuth & Permissions, then reinstall"
                    " the app there",
                    scope,
                    SCOPES[scope],
                    APPS,
                )
            self._workspace_url = str(about.get("url") or "")
            self._me = Identity(team, user, bot, has_agent_view=self._config.agent_view)
        return self._me

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Send all parts that `split` returns, and return the first. An answer to a command in a channel is visible
        only to the user who gave it, and cannot be edited."""
        posted = [await self._post(chat, part, key) for part in self.split(message)]
        self._typing.posted(chat)
        return as_one(posted)

    async def _post(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        if message.attachments:
            me = await self._identity()
            return await self._attachments.upload(chat, message.attachments, render.comment_of(message), key, me)
        if message.respond is not None and await self._client.respond(
            message.respond, {**_whispered(chat), **render.body(message), **_QUIET}
        ):
            return Posted(chat=chat, message_id=f"ephemeral:{key}")
        try:
            return await self._formatted(chat, message, partial(self._write, chat, key))
        except BadBlocks as error:
            log.warning("sent without formatting chat=%s: %s", chat, error.reason)
            texts = render.plain_texts(message)
            return as_one([await replacement_call(partial(self._write, chat, key, {"text": text})) for text in texts])

    async def _formatted(
        self, chat: ChatKey, message: OutboundMessage, write: Callable[[render.Json], Awaitable[T]]
    ) -> T:
        """Write a message; if Slack refuses it, once without blocks that not every workspace has. Raises BadBlocks."""
        body = render.body(message, self._languages.phrases(chat))
        try:
            return await write(body)
        except BadBlocks as error:
            if not render.has_block(body, render.MAY_BE_REFUSED):
                raise
            log.info("written in simple blocks chat=%s: %s", chat, error.reason)
        return await replacement_call(partial(write, render.simple_body(message)))

    async def _write(self, chat: ChatKey, key: str, body: render.Json) -> Posted:
        where: dict[str, JsonValue] = {"channel": chat.chat}
        if chat.thread is not None:
            where["thread_ts"] = chat.thread
        answer = await self._client.call(
            "chat.postMessage", {**where, **body, **_QUIET, "metadata": render.metadata(key)}
        )
        ts = answer.get("ts")
        if not isinstance(ts, str):
            raise ChannelError("Slack's response names no message", ambiguous=True)
        return Posted(chat=chat, message_id=ts, at=float(ts))

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        """Edit the text and the buttons only; see `Channel.edit`."""
        if posted.message_id.startswith(_NOT_EDITABLE):
            raise MessageGone("Slack does not allow edits of this message")
        first = render.split(message)[0]
        if message.respond is not None and await self._client.respond(
            message.respond, {"replace_original": True, **render.body(first), **_QUIET}
        ):
            return
        if not await self._streams.become(posted, first):
            await self._update(posted, first)
        self._typing.edited(posted.chat)

    async def _update(self, posted: Posted, message: OutboundMessage) -> None:
        try:
            await self._formatted(posted.chat, message, partial(self._streams.update, posted))
        except BadBlocks as error:
            log.warning("edited without formatting chat=%s: %s", posted.chat, error.reason)
            text = render.plain_texts(message)[0]
            await replacement_call(lambda: self._streams.update(posted, {"text": text, "blocks": []}))

    def stream(self, chat: ChatKey, *, person: str, reply_to: str | None, key: str) -> SlackStream | None:
        """See `Streams.stream`."""
        return self._streams.open(chat, person, key, self._languages.phrases(chat))

    async def find_sent(self, chat: ChatKey, message: OutboundMessage, key: str, known: Known) -> Posted | None:
        """See `FindsSent`. Messages are found by their metadata. Files have none: they are found by id until a restart,
        after it by name and content. Streams begin without: one that was not confirmed is the bot's own message without
        metadata that nobody knows. It is looked for under its key or, after a restart, for a message without a text."""
        if message.respond is not None:
            raise ChannelError("Slack keeps no record of replies to commands", permanent=True)
        me = await self._identity()
        if message.attachments:
            found = await self._attachments.uploaded(chat, key, message.attachments, known, me)
        else:
            found = await self._history.sent(chat, key, me)
            if found is None and (self._streams.may_have_begun(key) or not visible(message.markdown)):
                found = await self._history.streamed(chat, known, me)
        if found is not None:
            self._typing.posted(chat)
        return found

    async def history(
        self, chat: ChatKey, *, after: str | None = None, before: str | None = None, most: int = 20
    ) -> Sequence[MessageReceived | CommandInvoked]:
        """See `ReadsHistory`. A thread of more than a thousand messages is read from its start, so the newest may be
        missing."""
        me = await self._identity()
        return await self._history.said(chat, me, self._commands, after=after, before=before, most=most)

    async def messages_since(self, chat: ChatKey, since: float) -> Sequence[MessageReceived | CommandInvoked]:
        """See `CatchesUp.messages_since`."""
        return await self._history.since(chat, await self._identity(), self._commands, since)

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """See `Channel.split`."""
        return joined_files(render.split(message), fit_together)

    def is_group(self, chat: ChatKey) -> bool:
        """See `Channel.is_group`."""
        return not is_direct(chat.chat)

    async def typing(self, chat: ChatKey) -> bool:
        """See `ShowsTyping`."""
        return await self._typing.show(chat)

    async def react(self, chat: ChatKey, message_id: str, emoji: Emoji | None, *, instead_of: Set[Emoji]) -> bool:
        """See `Reacts`."""
        return await react(self._client, chat, message_id, emoji, instead_of)

    def noted(self, event: InboundEvent) -> None:
        """See `NotesEvents`."""
        self._typing.noted(event)
        self._languages.noted(event)

    def type_by_reaction(self, *, on: bool) -> None:
        """See `TypesByReaction`. The status in threads remains."""
        self._typing.react(on=on)

    def link(self, chat: ChatKey, message_id: str) -> str | None:
        """See `LinksToMessages`."""
        if not self._workspace_url:
            return None
        place = f"{self._workspace_url.rstrip('/')}/archives/{chat.chat}/p{message_id.replace('.', '')}"
        return f"{place}?thread_ts={chat.thread}&cid={chat.chat}" if chat.thread else place

    async def private_chat(self, person: str) -> ChatKey:
        """See `FindsPrivateChats.private_chat`. Opens the chat if there is none yet, which the user does not notice."""
        me = await self._identity()
        opened = await self._client.call("conversations.open", {"users": person})
        channel = opened.get("channel")
        name = channel.get("id") if isinstance(channel, dict) else None
        if not isinstance(name, str):
            raise ChannelError("Slack's response names no private chat")
        return ChatKey(platform=self.name, account=me.team, chat=name)

    async def download(self, attachment: Attachment) -> bytes:
        """See `Downloads`."""
        return await self._attachments.download(attachment)

    async def is_member(self, chat: ChatKey, person: str) -> bool:
        """See `KnowsMembers`."""
        return await is_member(self._client, chat.chat, person)

    async def delete(self, posted: Posted) -> None:
        """See `Deletes`. Raises MessageGone if the message is already deleted."""
        await self._streams.delete(posted)

    async def close(self) -> None:
        """See `Channel.close`."""
        await self._streams.close()
        await self._typing.close()
        await self._users.close()
        await self._client.close()


def _whispered(chat: ChatKey) -> render.Json:
    """Return the fields of an answer that only one user sees, in the thread that they are in."""
    where: render.Json = {"thread_ts": chat.thread} if chat.thread is not None else {}
    return {"response_type": "ephemeral", "replace_original": False, **where}


async def react(client: Client, chat: ChatKey, message_id: str, emoji: Emoji | None, instead_of: Set[Emoji]) -> bool:
    """Do as `Reacts.react` says. Slack allows the bot several reactions, so the old one is removed first."""
    for old in sorted(instead_of):
        if not await _offer(client, "reactions.remove", chat, message_id, old):
            return False
    return emoji is None or await _offer(client, "reactions.add", chat, message_id, emoji)


async def _offer(client: Client, method: str, chat: ChatKey, message_id: str, emoji: Emoji) -> bool:
    try:
        return await client.offer(method, {"channel": chat.chat, "timestamp": message_id, "name": REACTIONS[emoji]})
    except Nothing:
        return True
