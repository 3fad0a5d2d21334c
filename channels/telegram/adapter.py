"""The Telegram channel: a bot with long polling, and messages with entities."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from datetime import timedelta

from pydantic import JsonValue

from channels.attachments import Attachment
from channels.backoff import replacement_call, until_answered
from channels.base import ChannelError, ChatKey, Inbox, Menu, MessageGone, OutboundMessage, Posted
from channels.capabilities import Emoji
from channels.commands import CommandSpec
from channels.files import MIB, FileRefused, FileTrouble, too_large
from channels.joined_files import joined_files
from channels.limits import Limits
from channels.moved import MovedAway, chat_moved
from channels.posted import as_one
from channels.tasks import BackgroundTasks
from channels.telegram.client import (
    BadEntities,
    CaptionOnly,
    Client,
    Moved,
    NotModified,
    Parameters,
    ThreadGone,
    UnknownMethod,
)
from channels.telegram.config import Config
from channels.telegram.draft import Draft
from channels.telegram.files import MAX_UPLOAD, Files, is_album
from channels.telegram.identity import Identity
from channels.telegram.menu import publish_menu, set_menu
from channels.telegram.polling import Polling
from channels.telegram.render import MAX_TEXT, Rendered, converter, keyboard, render, split

log = logging.getLogger(__name__)

MAX_DOWNLOAD = 20 * MIB
DOWNLOAD_SECONDS = 120.0
UNDER_WAY = 0.05
"""Seconds after which the first poll is under way."""
AGAIN_S = 1.0
"""Seconds until an import that failed is tried again."""


def open_channel(config: Config, now: Callable[[], float] = time.time) -> "TelegramChannel":
    """Create the channel without connecting."""
    return TelegramChannel(config, now)


class TelegramChannel:
    """One Telegram bot. Also implements typing indicators, reactions, downloads, deletion and drafts."""

    name = "telegram"

    def __init__(self, config: Config, now: Callable[[], float] = time.time) -> None:
        self.limits = Limits(
            id_form=r"\d{1,20}",
            max_text=MAX_TEXT,
            edit_every=timedelta(seconds=1),
            edit_every_in_groups=timedelta(seconds=3),
            burst=3,
            calls_per_second=config.calls_per_second,
            max_upload=MAX_UPLOAD,
            one_receiver=True,
            captions=True,
            voice_messages=True,
            threads_share_memory=True,
            typing_every=timedelta(seconds=4),
        )
        self._config = config
        self._now = now
        self._client = Client(config)
        self.reach = self._client.reach
        self._files = Files(self._in_chat)
        self._takes_rich = True
        """False once the server knew no rich messages."""
        self._takes_drafts = True
        """The same for drafts."""
        self._polling: Polling | None = None

    @property
    def is_connected(self) -> bool:
        """See `KnowsConnection.is_connected`."""
        return self._polling is not None and self._polling.is_working

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        """See `Channel.run`."""
        me = await until_answered("Telegram", self._identity)
        beside = BackgroundTasks()
        beside.start(_get_ready(rich=bool(self._config.rich_chats)))
        if menu.commands:
            beside.start(publish_menu(self._client, menu.commands))
        try:
            self._polling = Polling(self._client, me, inbox, self._config.poll_seconds, self._now)
            await self._polling.run()
        finally:
            self._polling = None
            await beside.close()

    async def try_reach(self) -> None:
        """See `KnowsReach.try_reach`."""
        with suppress(ChannelError):
            await self._client.call("getMe", {})

    async def _identity(self) -> Identity:
        """Return the bot's identity."""
        about = await self._client.call("getMe", {})
        name = about.get("username") if isinstance(about, dict) else None
        log.info("telegram bot=@%s id=%s", name, self._config.bot_id)
        return Identity(int(self._config.bot_id), str(name))

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Send all parts that `split` returns, and return the first with the ids of the others.

        Telegram has no idempotency key, so `key` is unused: a send whose response was lost may appear twice.
        """
        return as_one([await self._post(chat, part) for part in self.split(message)])

    async def _post(self, chat: ChatKey, message: OutboundMessage) -> Posted:
        parameters: dict[str, JsonValue] = {"link_preview_options": {"is_disabled": True}}
        if message.silent:
            parameters["disable_notification"] = True
        if message.buttons:
            parameters["reply_markup"] = keyboard(message.buttons)
        if message.reply_to is not None:
            parameters["reply_parameters"] = {"message_id": int(message.reply_to), "allow_sending_without_reply": True}
        if message.attachments:
            caption = render(message.markdown) if message.markdown.strip() else None
            parameters.pop("link_preview_options")
            return _posted(chat, await self._files.send(chat, message.attachments, caption, parameters))
        return _posted(chat, await self._say(chat, "sendMessage", message.markdown, parameters))

    async def _say(
        self, chat: ChatKey, method: str, markdown: str, parameters: Parameters, *, threaded: bool = True
    ) -> JsonValue:
        """Send or edit a text; with a table as a rich message, where the chat has them and Telegram takes it."""

        async def plainly() -> JsonValue:
            return await self._write(chat, method, render(markdown), "text", parameters, threaded=threaded)

        html = _rich_html(markdown) if self._takes_rich and chat.chat in self._config.rich_chats else None
        if html is None:
            return await plainly()
        given = {name: value for name, value in parameters.items() if name != "link_preview_options"}
        rich: JsonValue = {"html": html}
        richly = "sendRichMessage" if method == "sendMessage" else method
        try:
            return await self._in_chat(chat, richly, {**given, "rich_message": rich}, threaded=threaded)
        except ChannelError as error:
            is_refused = error.permanent or isinstance(error, BadEntities)
            if not is_refused or isinstance(error, MovedAway | MessageGone):
                raise
            self._takes_rich = not isinstance(error, UnknownMethod)
            log.warning("no rich message chat=%s: %s", chat, error.reason)
        return await replacement_call(plainly)

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        """Edit the text and the buttons only; see `Channel.edit`."""
        parameters: dict[str, JsonValue] = {
            "message_id": int(posted.message_id),
            "link_preview_options": {"is_disabled": True},
        }
        if message.buttons:  # without them Telegram removes existing buttons
            parameters["reply_markup"] = keyboard(message.buttons)
        words = split(message)[0].markdown
        with suppress(NotModified):
            try:
                await self._say(posted.chat, "editMessageText", words, parameters, threaded=False)
            except CaptionOnly:
                await replacement_call(lambda: self._edit_caption(posted.chat, render(words), parameters))

    def stream(self, chat: ChatKey, *, person: str, reply_to: str | None, key: str) -> Draft | None:
        """See `Streams.stream`. Telegram has drafts in private chats only."""
        if self.is_group(chat) or not self._takes_drafts:
            return None

        async def write(draft_id: int, rendered: Rendered) -> None:
            try:
                await self._write(chat, "sendMessageDraft", rendered, "text", {"draft_id": draft_id})
            except UnknownMethod:
                self._takes_drafts = False
                raise

        return Draft(write, key, self._now)

    async def _edit_caption(self, chat: ChatKey, rendered: Rendered, parameters: dict[str, JsonValue]) -> None:
        parameters.pop("link_preview_options", None)
        await self._write(chat, "editMessageCaption", rendered, "caption", parameters, threaded=False)

    async def _write(
        self,
        chat: ChatKey,
        method: str,
        rendered: Rendered,
        field: str,
        parameters: Parameters,
        *,
        threaded: bool = True,
    ) -> JsonValue:
        """Send or edit text with its entities, or without them if Telegram rejects them."""
        name = "entities" if field == "text" else "caption_entities"
        bare = {**parameters, field: rendered.text}
        entities: list[JsonValue] = [*rendered.entities]
        formatting: Parameters = {name: entities} if entities else {}
        try:
            return await self._in_chat(chat, method, {**bare, **formatting}, threaded=threaded)
        except BadEntities as error:
            log.warning("sent without formatting chat=%s: %s", chat, error.reason)
            return await replacement_call(lambda: self._in_chat(chat, method, bare, threaded=threaded))

    async def _in_chat(self, chat: ChatKey, method: str, parameters: Parameters, *, threaded: bool = True) -> JsonValue:
        """Make a call in a chat, outside of a topic that a person has deleted in their private chat.

        Raises MovedAway if the group has become a supergroup.
        """
        where: dict[str, JsonValue] = {"chat_id": int(chat.chat)}
        topic: dict[str, JsonValue] = {"message_thread_id": int(chat.thread)} if threaded and chat.thread else {}
        try:
            return await self._client.call(method, {**where, **topic, **parameters})
        except ThreadGone:
            if not topic or self.is_group(chat):
                raise
            log.info("sent outside of a topic that is gone chat=%s", chat)
            return await replacement_call(lambda: self._client.call(method, {**where, **parameters}))
        except Moved as moved:
            raise MovedAway(chat_moved(chat, str(moved.chat_id), self._now())) from moved

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """See `Channel.split`."""
        return joined_files(split(message), is_album)

    def is_group(self, chat: ChatKey) -> bool:
        """Return True for groups and channels, whose ids are negative."""
        return chat.chat.startswith("-")

    def link(self, chat: ChatKey, message_id: str) -> str | None:
        """See `LinksToMessages`. Only messages of supergroups and channels, whose ids begin with -100, have one."""
        return f"https://t.me/c/{chat.chat[4:]}/{message_id}" if chat.chat.startswith("-100") else None

    async def private_chat(self, person: str) -> ChatKey:
        """See `FindsPrivateChats`. A private chat has the user's id; the bot may write there only after the user has
        started it."""
        return ChatKey(platform=self.name, account=self._config.bot_id, chat=person)

    async def set_menu(self, chat: ChatKey, commands: Sequence[CommandSpec] | None, member: str = "") -> None:
        """See `HasMenusPerChat`."""
        await set_menu(self._client, chat.chat, commands, member)

    async def is_member(self, chat: ChatKey, person: str) -> bool:
        """See `KnowsMembers`."""
        about = await self._in_chat(chat, "getChatMember", {"user_id": int(person)}, threaded=False)
        told = about if isinstance(about, dict) else {}
        return told.get("is_member") is not False and told.get("status") not in ("left", "kicked")

    async def typing(self, chat: ChatKey) -> bool:
        """Show the typing indicator, for 5 s or until the bot's next message."""
        parameters: dict[str, JsonValue] = {"action": "typing"}
        await self._in_chat(chat, "sendChatAction", parameters)
        return True

    async def react(self, chat: ChatKey, message_id: str, emoji: Emoji | None, *, instead_of: Set[Emoji]) -> bool:
        """See `Reacts`. A bot has one reaction on a message, and another one replaces it."""
        reaction: JsonValue = [{"type": "emoji", "emoji": emoji}] if emoji else []
        parameters: dict[str, JsonValue] = {"message_id": int(message_id), "reaction": reaction}
        await self._in_chat(chat, "setMessageReaction", parameters, threaded=False)
        return True

    async def download(self, attachment: Attachment) -> bytes:
        """See `Downloads`."""
        large = too_large(attachment, "Telegram gives bots", MAX_DOWNLOAD)
        if (attachment.size or 0) > MAX_DOWNLOAD:
            raise large
        try:
            return await self._content_of(attachment)
        except FileRefused:
            raise
        except ChannelError as error:
            if "too big" in error.reason.lower():
                raise large from error
            why: FileTrouble = "gone" if error.permanent else "unreachable"
            raise FileRefused(error.reason, why, permanent=error.permanent) from error

    async def _content_of(self, attachment: Attachment) -> bytes:
        about = await self._client.call("getFile", {"file_id": attachment.reference})
        path = about.get("file_path") if isinstance(about, dict) else None
        if not isinstance(path, str):
            raise FileRefused(f"Telegram does not give {attachment.safe_name}", "kept_back")
        return await self._client.fetch(path, seconds=DOWNLOAD_SECONDS)

    async def delete(self, posted: Posted) -> None:
        """See `Deletes`. Raises MessageGone if the message is already deleted or too old to be deleted."""
        parameters: dict[str, JsonValue] = {"message_id": int(posted.message_id)}
        await self._in_chat(posted.chat, "deleteMessage", parameters, threaded=False)

    async def close(self) -> None:
        """See `Channel.close`."""
        await self._client.close_connections()


def _posted(chat: ChatKey, result: JsonValue) -> Posted:
    """Return the message in a response, or the first of an album with the ids of the others."""
    made = [each for each in (result if isinstance(result, list) else [result]) if isinstance(each, dict)]
    ids = [str(each["message_id"]) for each in made if each.get("message_id") is not None]
    if not ids:
        raise ChannelError("Telegram's response names no message", ambiguous=True)
    date = made[0].get("date")
    at = float(date) if isinstance(date, int) else None
    return Posted(chat=chat, message_id=ids[0], at=at, further=tuple(ids[1:]))


def _rich_html(markdown: str) -> str | None:
    from channels.telegram.rich_answer import rich_html  # noqa: PLC0415 (15 ms, for which no poll has to wait)

    return rich_html(markdown)


async def _get_ready(*, rich: bool) -> None:
    """Import what writes answers while the first poll waits; again for as long as there are no file handles for it."""
    await asyncio.sleep(UNDER_WAY)
    while True:
        with suppress(OSError):
            converter()
            if rich:
                _rich_html("")
            return
        await asyncio.sleep(AGAIN_S)
