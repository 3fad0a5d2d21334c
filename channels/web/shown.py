"""A message of the page, as the gateway's store returns it after a reload or a restart."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from channels.base import Attachment, Button
from channels.values import Text


class Shown(BaseModel):
    """One message of the chat, from the user or from Parley."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    who: Literal["person", "parley"]
    message_id: str
    """Id from the inbound event, or from the channel for Parley's messages."""
    markdown: Text
    """Markdown for Parley's messages; the user's are shown as typed."""
    reasoning: Text = ""
    """The model's reasoning, shown folded."""
    at: float
    """Seconds since the epoch."""
    buttons: tuple[tuple[Button, ...], ...] = ()
    attachments: tuple[Attachment, ...] = ()
