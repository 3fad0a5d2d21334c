"""What the page shows: one message, as the gateway's store gives it back after a reload or a restart."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from channels.base import Attachment, Button, Text


class Shown(BaseModel):
    """One message of the chat, whoever wrote it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    who: Literal["person", "parley"]
    message_id: str
    """The one that the event carried, or that the channel gave to the post."""
    markdown: Text
    """What a person typed is shown as typed, without markdown."""
    at: float
    """Seconds since the epoch."""
    buttons: tuple[tuple[Button, ...], ...] = ()
    attachments: tuple[Attachment, ...] = ()
