"""Turns Matrix's events into those of Parley. Nothing here asks the server."""

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from parley.channels import ChatKey, CommandInvoked, MessageReceived, Sender, parse_command

MILLISECONDS = 1000


class _Content(BaseModel):
    model_config = ConfigDict(strict=True)

    msgtype: str
    body: str


class _Event(BaseModel):
    """A message in a room, as the server sends it."""

    type: str
    event_id: str
    sender: str
    origin_server_ts: int
    content: _Content


def written(matrix_id: str) -> str:
    """Return an id of Matrix as Parley writes it, where a colon separates the parts of an address."""
    return matrix_id.replace(":", "|")


def original(parley_id: str) -> str:
    """Return the id as Matrix writes it."""
    return parley_id.replace("|", ":")


def normalise(raw: JsonValue, room: str, bot: str) -> MessageReceived | CommandInvoked | None:
    """Return what a person wrote in a room, or None for anything else."""
    try:
        event = _Event.model_validate(raw)
    except ValidationError:
        return None
    if event.type != "m.room.message" or event.content.msgtype != "m.text" or event.sender == bot:
        return None
    said = MessageReceived(
        event_id=f"matrix:{event.event_id}",
        chat=ChatKey(platform="matrix", account=written(bot), chat=written(room)),
        sender=Sender(id=written(event.sender), name=event.sender.removeprefix("@").partition(":")[0]),
        at=event.origin_server_ts / MILLISECONDS,
        message_id=event.event_id,
        text=event.content.body,
    )
    if command := parse_command(said.text, ()):
        return said.as_command(command.name, command.arguments)
    return said
