"""Files of which a message tells only the id, as those that other workspaces share through Slack Connect."""

import asyncio
import logging
from typing import TypeVar

from channels.attachments import Attachment
from channels.base import ChannelError, InboundEvent, MessageReceived
from channels.files import FileRefused
from channels.slack.client import Client
from channels.slack.files import attachment_of
from channels.slack.wire import UNTOLD, File
from channels.values import parse

WAIT_SECONDS = 2.0
"""Seconds that a message waits for what its files are. Those that are not told by then are looked up when fetched."""

log = logging.getLogger(__name__)
E = TypeVar("E", bound=InboundEvent)


class SharedFiles:
    """Looks files up by `files.info`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def told(self, event: E) -> E:
        """Return an event whose files have their names, kinds and addresses, as far as Slack tells them in time."""
        if not isinstance(event, MessageReceived) or not any(_is_untold(each) for each in event.attachments):
            return event
        found = [asyncio.ensure_future(self._told(each, event.sender.id)) for each in event.attachments]
        await asyncio.wait(found, timeout=WAIT_SECONDS)
        late = [each for each in found if not each.done()]
        for each in late:
            each.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        known = zip(found, event.attachments, strict=True)
        told = (_of_somebody(each) if found.cancelled() else found.result() for found, each in known)
        return event.model_copy(update={"attachments": tuple(told)})

    async def look_up(self, attachment: Attachment, sender: str = "") -> Attachment:
        """Return an attachment with what Slack tells of its file. Raises ChannelError if that is nothing."""
        if not _is_untold(attachment):
            return attachment
        answer = await self._client.call("files.info", {"file": attachment.reference.removeprefix(UNTOLD)})
        file = parse(File, answer.get("file"))
        found = attachment_of(file, sender, lambda _: None) if file else None
        if found is None or _is_untold(found):
            raise FileRefused(f"Slack does not tell what {attachment.safe_name} is", "kept_back")
        return found.model_copy(update={"by": attachment.by or found.by})

    async def _told(self, attachment: Attachment, sender: str) -> Attachment:
        try:
            return await self.look_up(attachment, sender)
        except ChannelError as error:
            log.info("file not told: %s", error.reason)
            return _of_somebody(attachment)


def _of_somebody(attachment: Attachment) -> Attachment:
    """Return a file of which nobody has told who uploaded it."""
    return attachment.model_copy(update={"by": attachment.by or "somebody"})


def _is_untold(attachment: Attachment) -> bool:
    return attachment.reference.startswith(UNTOLD)
