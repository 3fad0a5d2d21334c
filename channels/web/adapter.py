"""The web page's channel: any number of visitors, each with conversations of their own in any number of tabs.

There is no access control here: the server that mounts the routes says who the visitor of a request is.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from channels.attachments import Attachment
from channels.base import ChannelError, ChatKey, Inbox, Menu, MessageGone, OutboundMessage, Posted
from channels.files import FileRefused
from channels.limits import Limits
from channels.markdown import words_of
from channels.web.attachments import Uploads
from channels.web.config import Config
from channels.web.conversation import CallDetails, History, Shown, file_reference
from channels.web.listing import Listing
from channels.web.requests import LONGEST_TEXT
from channels.web.rooms import Rooms
from channels.web.visitor import LOCAL, mark_of

NAME = "web"
LONGEST_NOTICE = 160
"""Characters of a notification."""
CHAT = ChatKey(platform=NAME, account=LOCAL, chat="main")
"""The first conversation of this machine's user."""


class WebChannel:
    """Implements Channel, ShowsTyping, Downloads, Deletes, KeepsFiles and HasOwnChat."""

    name = NAME
    own_chat = CHAT

    def __init__(
        self,
        config: Config,
        *,
        history: History,
        listing: Listing,
        detail: CallDetails,
        uploads: Path,
        now: Callable[[], float] = time.time,
        rooms: Rooms | None = None,
    ) -> None:
        """Create the channel.

        Args:
            config: Its settings.
            history: Returns stored messages.
            listing: The stored list of conversations.
            detail: Returns what is stored of a tool call.
            uploads: The folder for the chats' files, created when first needed.
            now: Clock, in seconds since the epoch.
            rooms: The open conversations.
        """
        self.limits = Limits(
            max_text=LONGEST_TEXT,
            edit_every=timedelta(seconds=0.02),
            edit_every_in_groups=timedelta(seconds=0.02),
            burst=100,
            calls_per_second=100_000,
            threads_share_pace=False,
            threads_share_memory=True,
            keeps_keys=True,
            is_local=True,
            bound_to_process=True,
            words_after=timedelta(0),
            folds_reasoning=True,
            shows_calls=True,
            max_upload=config.max_upload,
        )
        self.config = config
        self.uploads = Uploads(uploads, config.max_upload)
        self.rooms = rooms or Rooms()
        self.listing = listing
        self.detail = detail
        self.menu = Menu()
        self.now = now
        self.history = history
        self._inbox: Inbox | None = None

    @property
    def inbox(self) -> Inbox | None:
        """The handler of events; None until the gateway listens."""
        return self._inbox

    async def run(self, inbox: Inbox, menu: Menu) -> None:
        self._inbox, self.menu = inbox, menu
        try:
            await asyncio.Event().wait()
        finally:
            self._inbox = None

    async def send(self, chat: ChatKey, message: OutboundMessage, key: str) -> Posted:
        """Show a message. Its id derives from the key, so that a send retried after a restart does not show it
        twice."""
        _check(chat)
        message_id = mark_of(chat.account) + hashlib.sha256(key.encode()).hexdigest()[:32]
        posted = Posted(chat=chat, message_id=message_id, at=self.now())
        known = self.rooms.of(chat).conversation
        if message_id not in known and not known.is_deleted(message_id):
            await self._show(posted, message, self.now())
            self.listing.answered(chat, self.now())
            self.rooms.tell(chat, {"at": self.now(), "unread": True, "notice": _notice(message)})
        return posted

    async def edit(self, posted: Posted, message: OutboundMessage) -> None:
        known = self.rooms.of(posted.chat).conversation
        if known.is_deleted(posted.message_id):
            raise MessageGone("this message was deleted")
        at = self.now()
        if posted.message_id not in known:  # posted before a restart
            past = await self.history(posted.chat, "")
            at = next((each.at for each in past.messages if each.message_id == posted.message_id), at)
        await self._show(posted, message, at)

    async def reword(self, chat: ChatKey, message_id: str, text: str) -> None:
        """Show a message of the visitor with a new text."""
        past = await self.history(chat, "")
        room = self.rooms.of(chat)
        stored = next((each for each in past.messages if each.message_id == message_id and each.who == "person"), None)
        if stored is not None:
            room.show(stored.model_copy(update={"markdown": text}))

    async def delete(self, posted: Posted) -> None:
        self.rooms.of(posted.chat).delete(posted.message_id)

    async def typing(self, chat: ChatKey) -> bool:
        _check(chat)
        self.rooms.of(chat).ring.put({"type": "typing", "at": self.now()})
        return True

    async def delete_files(self, chat: ChatKey) -> None:
        """Delete all files of the visitor whose chat it is."""
        await self.uploads.delete_all(mark_of(chat.account))

    async def download(self, attachment: Attachment) -> bytes:
        found = await self.uploads.find(attachment.reference)
        if found is None:
            raise FileRefused(f"{attachment.safe_name} no longer exists", "gone")
        return await asyncio.to_thread(found[0].read_bytes)

    def split(self, message: OutboundMessage) -> tuple[OutboundMessage, ...]:
        """Return the message unchanged; the page has no limit."""
        return (message,)

    def is_group(self, _: ChatKey) -> bool:
        return False

    async def close(self) -> None:
        """End the event streams; tabs reconnect until the server is back."""
        self.rooms.close()

    async def _show(self, posted: Posted, message: OutboundMessage, at: float) -> None:
        _check(posted.chat)
        for index, each in enumerate(message.attachments):
            if each.path:
                await self.uploads.take(each, file_reference(posted.message_id, index))
        self.rooms.of(posted.chat).show(
            Shown(
                who="parley",
                message_id=posted.message_id,
                markdown=message.markdown,
                reasoning=message.reasoning,
                calls=message.calls,
                at=at,
                buttons=message.buttons,
                attachments=message.attachments,
            )
        )


def _check(chat: ChatKey) -> None:
    if (chat.platform, chat.chat) != (CHAT.platform, CHAT.chat):
        raise ChannelError(f"the page has no chat {chat}", permanent=True)


def _notice(message: OutboundMessage) -> str:
    """Return the words of a notification about a message; none for one that shows what is still going on."""
    goes_on = any(button.action.split()[0] == "/stop" for row in message.buttons for button in row)
    if message.silent or goes_on:
        return ""
    return words_of(message.markdown[: 4 * LONGEST_NOTICE])[:LONGEST_NOTICE]
